// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/completion"
)

// CompleteFunc returns what may come next on a command line, as cobra wants it.
type CompleteFunc = func(cmd *cobra.Command, arguments []string, toComplete string) ([]string, cobra.ShellCompDirective)

// CompleteNames completes the names of boxes, of stacks as TYPE/NAME, and those after a type. None is offered twice.
func CompleteNames(f cmdutil.Factory) CompleteFunc {
	return func(_ *cobra.Command, arguments []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		var names []string
		typed, _, hasType := strings.Cut(toComplete, "/")
		switch {
		case hasType:
			names = namesOf(f, typed, typed+"/", toComplete)
		case len(arguments) > 0 && isType(arguments[0]):
			names = completion.CompGetResource(f, arguments[0], toComplete)
		default:
			names = slices.Concat(namesOf(f, Boxes, "", toComplete), namesOf(f, Stacks, "modelstack/", toComplete))
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(arguments, name) })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteName completes the first argument, the name of a box. It does not complete further arguments.
func CompleteName(f cmdutil.Factory) CompleteFunc {
	return func(_ *cobra.Command, arguments []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(arguments) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		typed, _, hasType := strings.Cut(toComplete, "/")
		if hasType {
			return namesOf(f, typed, typed+"/", toComplete), cobra.ShellCompDirectiveNoFileComp
		}
		return namesOf(f, Boxes, "", toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteNamesAndContainers completes like CompleteNames. After names of boxes and stacks, it also completes the names of their
// containers, each with "=" for the image that follows.
func CompleteNamesAndContainers(f cmdutil.Factory) CompleteFunc {
	complete := CompleteNames(f)
	return func(cmd *cobra.Command, arguments []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		isPair := func(argument string) bool { return strings.Contains(argument, "=") }
		if isPair(toComplete) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		resources, directive := slices.DeleteFunc(slices.Clone(arguments), isPair), cobra.ShellCompDirectiveNoFileComp
		var names []string
		if len(resources) == len(arguments) {
			names, directive = complete(cmd, arguments, toComplete)
		}
		selection := &Selection{}
		if selection.Complete(f, resources) != nil || !selection.hasNames() {
			return names, directive
		}
		objects, err := selection.Get()
		if err != nil {
			return names, directive
		}
		for _, container := range objects.containerNames() {
			if strings.HasPrefix(container, toComplete) && !slices.ContainsFunc(arguments, func(argument string) bool { return strings.HasPrefix(argument, container+"=") }) {
				names, directive = append(names, container+"="), directive|cobra.ShellCompDirectiveNoSpace
			}
		}
		return names, directive
	}
}

// CompleteRevisions completes the number of a revision of the box that the first argument names, with its images.
func CompleteRevisions(f cmdutil.Factory) CompleteFunc {
	return func(cmd *cobra.Command, arguments []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(arguments) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		name, err := BoxName(arguments[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		namespace, _, err := f.ToRawKubeConfigLoader().Namespace()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, err := NewClient(f)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		history, err := client.ModelV1().ModelBoxes(namespace).GetHistory(cmd.Context(), name, metav1.GetOptions{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var numbers []string
		for i := range history.Revisions {
			revision := &history.Revisions[i]
			if number := strconv.FormatInt(revision.Revision, 10); strings.HasPrefix(number, toComplete) {
				numbers = append(numbers, number+"\t"+strings.Join(revision.Images, ","))
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// namesOf returns the names of all objects of a resource, after a prefix, that begin with what is to be completed.
func namesOf(f cmdutil.Factory, resource, prefix, toComplete string) []string {
	rest := ""
	if strings.HasPrefix(toComplete, prefix) {
		rest = strings.TrimPrefix(toComplete, prefix)
	} else if !strings.HasPrefix(prefix, toComplete) {
		return nil
	}
	var names []string
	for _, name := range completion.CompGetResource(f, resource, rest) {
		names = append(names, prefix+name)
	}
	return names
}
