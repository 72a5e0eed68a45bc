// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// HasFiles returns whether files are given.
func (s *Selection) HasFiles() bool { return !cmdutil.IsFilenameSliceEmpty(s.Filenames, s.Kustomize) }

// ReadFiles returns the boxes and stacks in the files as they are there. There has to be one at least, and each has a name.
func (s *Selection) ReadFiles() (*Objects, error) {
	infos, err := s.inFiles()
	if err != nil {
		return nil, err
	}
	objects := &Objects{}
	for _, info := range infos {
		if info.Name == "" {
			return nil, fmt.Errorf("%s: a %s has no metadata.name", info.Source, info.Object.GetObjectKind().GroupVersionKind().Kind)
		}
		if err := objects.addManifest(info); err != nil {
			return nil, err
		}
	}
	return s.oneAtLeast(objects, nil)
}

// getFiles returns the boxes and stacks in the files as they are in the cluster.
func (s *Selection) getFiles() (*Objects, error) {
	infos, err := s.inFiles()
	if err != nil {
		return nil, err
	}
	objects := &Objects{}
	var errs []error
	for _, info := range infos {
		err := info.Get()
		if err == nil {
			err = objects.addLive(info)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return objects, utilerrors.NewAggregate(errs)
}

// inFiles returns the boxes and stacks in the files. Files that kubectl applies may have other objects as well, which are left out.
func (s *Selection) inFiles() ([]*resource.Info, error) {
	infos, err := s.builder().
		Unstructured().
		NamespaceParam(s.Namespace).DefaultNamespace().
		FilenameParam(s.enforceNamespace, &s.FilenameOptions).
		ContinueOnError().
		Flatten().
		Do().
		Infos()
	return slices.DeleteFunc(infos, func(info *resource.Info) bool {
		kind := info.Object.GetObjectKind().GroupVersionKind()
		return kind.Group != modelv1.GroupName || kind.Kind != "ModelBox" && kind.Kind != "ModelStack"
	}), err
}

// addManifest adds a box or a stack of a file. Like kubectl apply it returns an error for a field that there is not.
func (o *Objects) addManifest(info *resource.Info) error {
	if err := o.add(info, true); err != nil {
		return fmt.Errorf("%s: %s: %w", info.Source, info.ObjectName(), err)
	}
	return nil
}

// addLive adds a box or a stack of the cluster. A later release of the server may have fields that this program does not know.
func (o *Objects) addLive(info *resource.Info) error {
	if err := o.add(info, false); err != nil {
		return fmt.Errorf("reading %s: %w", info.ObjectName(), err)
	}
	return nil
}

func (o *Objects) add(info *resource.Info, isStrict bool) error {
	content := info.Object.(*unstructured.Unstructured)
	into := func(object any) error {
		return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content.Object, object, isStrict)
	}
	if content.GetKind() == "ModelStack" {
		stack := &modelv1.ModelStack{}
		o.Stacks = append(o.Stacks, stack)
		return into(stack)
	}
	box := &modelv1.ModelBox{}
	o.Boxes = append(o.Boxes, box)
	return into(box)
}
