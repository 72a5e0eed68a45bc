// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"fmt"
	"slices"
	"strings"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The resources that the commands take.
const (
	Boxes  = "modelboxes"
	Stacks = "modelstacks"
)

// typeNames are what a resource may be called in an argument.
var typeNames = map[string][]string{
	Boxes:  {"modelboxes", "modelbox", "mb"},
	Stacks: {"modelstacks", "modelstack", "mst"},
}

// resourceOf returns the resource that an argument names, "" for one that names none.
func resourceOf(argument string) string {
	name := strings.ToLower(argument)
	name = strings.TrimSuffix(name, "."+modelv1.GroupName)
	name = strings.TrimSuffix(name, "."+modelv1.SchemeGroupVersion.Version)
	for resource, names := range typeNames {
		if slices.Contains(names, name) {
			return resource
		}
	}
	return ""
}

// isType returns whether an argument is a type, or several, rather than a name.
func isType(argument string) bool {
	return !slices.ContainsFunc(strings.Split(argument, ","), func(name string) bool { return resourceOf(name) == "" })
}

// Arguments returns arguments in the form of the commands of kubectl. A name without a type is the name of a box. As in kubectl,
// "TYPE NAME..." and "TYPE/NAME" are both possible.
func Arguments(arguments []string) []string {
	if len(arguments) > 0 && isType(arguments[0]) {
		return arguments
	}
	typed := make([]string, len(arguments))
	for i, argument := range arguments {
		typed[i] = Argument(argument)
	}
	return typed
}

// Argument returns one argument as TYPE/NAME.
func Argument(argument string) string {
	if strings.Contains(argument, "/") {
		return argument
	}
	return Boxes + "/" + argument
}

// BoxName returns the name of the box that an argument names, with or without its type.
func BoxName(argument string) (string, error) {
	resource, name, isTyped := strings.Cut(argument, "/")
	if !isTyped {
		return argument, nil
	}
	if resourceOf(resource) != Boxes || name == "" {
		return "", fmt.Errorf("%q does not name a box", argument)
	}
	return name, nil
}
