// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// GetOrRead returns the boxes and stacks in the files as they are there, and without files those that are selected.
func (s *Selection) GetOrRead() (*Objects, error) {
	if s.HasFiles() {
		return s.ReadFiles()
	}
	return s.GetObjects()
}

// RequestSubresource reads into the answer what a subresource says about an object of GetOrRead: about one of a file as it is there,
// and about any other as it is stored.
func (s *Selection) RequestSubresource(
	ctx context.Context, clientset versioned.Interface, resource string, object Object, subresource string, answer runtime.Object,
) error {
	client := clientset.ModelV1().RESTClient()
	request := client.Get().UseProtobufAsDefault()
	if s.HasFiles() {
		request = client.Post().UseProtobufAsDefault().Body(object)
	}
	return request.Namespace(object.GetNamespace()).Resource(resource).Name(object.GetName()).SubResource(subresource).Do(ctx).Into(answer)
}
