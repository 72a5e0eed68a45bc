// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
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

// CompleteName completes the first argument, the name of a box. What follows is not completed.
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
