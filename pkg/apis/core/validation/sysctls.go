// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	maxSysctlLength = 253
	sysctlRule      = `must be a name of lower case letters, digits, '-' and '_', in parts separated by '.' or '/', such as "net.core.somaxconn"`
)

var (
	sysctlName = regexp.MustCompile(`^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$`)

	// ipcSysctls are those that belong to the IPC namespace of a pod, besides all in fs.mqueue.
	ipcSysctls = []string{
		"kernel.sem", "kernel.shm", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
		"kernel.msg", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni",
	}
)

func validateSysctls(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i, sysctl := range validate.Each(spec.SecurityContext.Sysctls, &errs) {
		namePath := path.Index(i).Child("name")
		errs = append(errs, slices.Concat(
			validate.Format(sysctl.Name, sysctlNameProblems, namePath),
			names.Add(sysctl.Name, namePath),
			validateSysctlNamespace(spec, sysctl.Name, namePath),
		)...)
	}
	return errs
}

func sysctlNameProblems(name string) []string {
	switch {
	case len(name) > maxSysctlLength:
		return []string{fmt.Sprintf("must have at most %d characters", maxSysctlLength)}
	case !sysctlName.MatchString(name):
		return []string{sysctlRule}
	}
	return nil
}

// validateSysctlNamespace refuses sysctls that a pod would set for its whole node.
func validateSysctlNamespace(spec *corev1.PodSpec, name string, path *field.Path) field.ErrorList {
	name = dotted(name)
	if spec.HostNetwork && strings.HasPrefix(name, "net.") {
		return field.ErrorList{field.Invalid(path, name, "may not be given when hostNetwork is true")}
	}
	if spec.HostIPC && (strings.HasPrefix(name, "fs.mqueue.") || slices.Contains(ipcSysctls, name)) {
		return field.ErrorList{field.Invalid(path, name, "may not be given when hostIPC is true")}
	}
	return nil
}

// dotted returns the name of a sysctl in the form with dots. In the form with slashes a dot is part of a name, such as
// that of an interface.
func dotted(name string) string {
	separator := strings.IndexAny(name, "./")
	if separator < 0 || name[separator] == '.' {
		return name
	}
	return strings.NewReplacer("/", ".", ".", "/").Replace(name)
}
