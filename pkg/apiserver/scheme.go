// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

var (
	// Scheme knows every type that the server serves or stores.
	Scheme = runtime.NewScheme()
	// Codecs encode and decode the types of Scheme.
	Codecs = serializer.NewCodecFactory(Scheme)
)

func init() {
	install.Install(Scheme)

	// The scale subresource serves autoscaling/v1. Its type has no internal form of its own: what is served is
	// also what the registry works on.
	utilruntime.Must(autoscalingv1.AddToScheme(Scheme))
	Scheme.AddKnownTypes(schema.GroupVersion{Group: autoscalingv1.GroupName, Version: runtime.APIVersionInternal}, &autoscalingv1.Scale{})

	// The generic server decodes request options, and encodes its own answers, in the core group's v1.
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(Scheme, unversioned)
	Scheme.AddUnversionedTypes(unversioned,
		&metav1.Status{},
		&metav1.APIVersions{},
		&metav1.APIGroupList{},
		&metav1.APIGroup{},
		&metav1.APIResourceList{},
		// What a box is rendered into is a List in every version of the API.
		&metav1.List{},
	)
}
