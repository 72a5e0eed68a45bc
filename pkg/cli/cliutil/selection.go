// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Selection says which boxes and stacks a command is about: those that are named, those in files, or those with labels.
type Selection struct {
	resource.FilenameOptions
	LabelSelector string
	AllNamespaces bool
	// Arguments are names, of boxes where they have no type.
	Arguments []string
	// Namespace is the namespace of the command line.
	Namespace string

	enforceNamespace bool
	builder          func() *resource.Builder
}

// AddFlags adds the flags that select.
func (s *Selection) AddFlags(cmd *cobra.Command) {
	cmdutil.AddFilenameOptionFlags(cmd, &s.FilenameOptions, "identifying the boxes and stacks.")
	cmdutil.AddLabelSelectorFlagVar(cmd, &s.LabelSelector)
	cmd.Flags().BoolVarP(&s.AllNamespaces, "all-namespaces", "A", s.AllNamespaces, "If present, select the requested object(s) across all namespaces.")
}

// Complete takes the arguments, and what the command line says of the cluster.
func (s *Selection) Complete(f cmdutil.Factory, arguments []string) (err error) {
	RegisterTypes()
	s.Arguments, s.builder = arguments, f.NewBuilder
	s.Namespace, s.enforceNamespace, err = f.ToRawKubeConfigLoader().Namespace()
	return err
}

// IsEmpty returns whether neither names nor files nor labels are given.
func (s *Selection) IsEmpty() bool {
	return len(s.Arguments) == 0 && s.LabelSelector == "" && !s.HasFiles()
}

// Validate returns an error for flags that exclude each other.
func (s *Selection) Validate() error {
	isFile := s.HasFiles()
	switch {
	case isFile && (len(s.Arguments) > 0 || s.LabelSelector != ""):
		return fmt.Errorf("names and --selector may not be specified together with --filename or --kustomize")
	case s.LabelSelector != "" && len(s.Arguments) > 0 && !(len(s.Arguments) == 1 && isType(s.Arguments[0])):
		return fmt.Errorf("a name may not be specified together with --selector")
	case s.AllNamespaces && (isFile || s.hasNames()):
		return fmt.Errorf("--all-namespaces may not be specified together with names or files: use --namespace")
	}
	return nil
}

func (s *Selection) hasNames() bool {
	return len(s.Arguments) > 1 || len(s.Arguments) == 1 && !isType(s.Arguments[0])
}

// All returns whether the selection is of all that there is now and later, rather than of those with names.
func (s *Selection) All() bool {
	return !s.HasFiles() && !s.hasNames()
}

// SelectsType returns whether objects of a resource are among those that All says.
func (s *Selection) SelectsType(resource string) bool {
	if len(s.Arguments) == 0 {
		return true
	}
	return slices.ContainsFunc(strings.Split(s.Arguments[0], ","), func(name string) bool { return resourceOf(name) == resource })
}

// Selects returns whether an object of a resource is of those that All says.
func (s *Selection) Selects(resource string, object metav1.Object) bool {
	selector, err := labels.Parse(s.LabelSelector)
	return err == nil && s.SelectsType(resource) && selector.Matches(labels.Set(object.GetLabels()))
}

// Objects are the boxes and stacks that are selected.
type Objects struct {
	Boxes  []*modelv1.ModelBox
	Stacks []*modelv1.ModelStack
}

// Get returns what is selected, as it is in the cluster. Without any selection that is all. With an error for some of it, such as a
// NotFound for a name, the rest is returned as well.
func (s *Selection) Get() (*Objects, error) {
	if s.HasFiles() {
		return s.getFiles()
	}
	arguments := Arguments(s.Arguments)
	if len(arguments) == 0 {
		arguments = []string{Stacks + "," + Boxes}
	}
	infos, err := s.builder().
		WithScheme(scheme.Scheme, scheme.Scheme.PrioritizedVersionsAllGroups()...).
		NamespaceParam(s.Namespace).DefaultNamespace().
		AllNamespaces(s.AllNamespaces).
		LabelSelectorParam(s.LabelSelector).
		ResourceTypeOrNameArgs(true, arguments...).
		RequestChunksOf(cmdutil.DefaultChunkSize).
		ContinueOnError().
		Flatten().
		Latest().
		Do().
		Infos()
	found, errs := &Objects{}, []error{err}
	for _, info := range infos {
		switch object := info.Object.(type) {
		case *modelv1.ModelBox:
			found.Boxes = append(found.Boxes, object)
		case *modelv1.ModelStack:
			found.Stacks = append(found.Stacks, object)
		default:
			errs = append(errs, fmt.Errorf("%s is neither a box nor a stack", info.ObjectName()))
		}
	}
	return found, utilerrors.Flatten(utilerrors.NewAggregate(errs))
}

// Object is a box or a stack.
type Object interface {
	metav1.Object
	runtime.Object
}

// All returns the stacks and then the boxes, each after its resource.
func (o *Objects) All() iter.Seq2[string, Object] {
	return func(yield func(string, Object) bool) {
		for _, stack := range o.Stacks {
			if !yield(Stacks, stack) {
				return
			}
		}
		for _, box := range o.Boxes {
			if !yield(Boxes, box) {
				return
			}
		}
	}
}

// IsEmpty returns whether nothing has been found.
func (o *Objects) IsEmpty() bool { return len(o.Boxes) == 0 && len(o.Stacks) == 0 }

// NothingFound is what kubectl says when there is nothing.
func (s *Selection) NothingFound() string {
	switch {
	case s.HasFiles():
		return "No boxes or stacks found in the files"
	case s.AllNamespaces:
		return "No resources found"
	}
	return fmt.Sprintf("No resources found in %s namespace.", s.Namespace)
}

// OneLine returns a message without line breaks.
func OneLine(message string) string { return strings.Join(strings.Fields(message), " ") }

// GetObjects returns the boxes and stacks that are selected, boxes where there is no type. There has to be one at least. With an
// error for some of it, the rest is returned as well.
func (s *Selection) GetObjects() (*Objects, error) {
	if s.IsEmpty() {
		return nil, errors.New("one or more boxes must be specified as NAME, TYPE/NAME, or by --filename or --selector")
	}
	selection := *s
	if len(s.Arguments) == 0 && !s.HasFiles() {
		selection.Arguments = []string{Boxes}
	}
	return s.oneAtLeast(selection.Get())
}

// GetBoxes is GetObjects for a command that takes no stacks: each one that is selected is an error.
func (s *Selection) GetBoxes() (*Objects, error) {
	objects, err := s.GetObjects()
	if objects == nil {
		return nil, err
	}
	errs := []error{err}
	for _, stack := range objects.Stacks {
		errs = append(errs, fmt.Errorf("%s/%s is a stack: specify its boxes", Stacks, stack.Name))
	}
	return &Objects{Boxes: objects.Boxes}, utilerrors.Flatten(utilerrors.NewAggregate(errs))
}

func (s *Selection) oneAtLeast(objects *Objects, err error) (*Objects, error) {
	if err == nil && objects.IsEmpty() {
		return nil, errors.New(s.NothingFound())
	}
	return objects, err
}
