// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package debugcontainer

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Profile is what a container may do beside what its image and its pod let it: a profile of "kubectl debug --profile".
type Profile string

const (
	// ProfileGeneral may trace the processes of others. It is the default.
	ProfileGeneral Profile = "general"
	// ProfileBaseline has what the Pod Security Standard of that name allows.
	ProfileBaseline Profile = "baseline"
	// ProfileRestricted has what the Pod Security Standard of that name requires. Its image must not run as root.
	ProfileRestricted Profile = "restricted"
	// ProfileNetadmin may configure the network of the pod, and send what it likes.
	ProfileNetadmin Profile = "netadmin"
	// ProfileSysadmin is privileged.
	ProfileSysadmin Profile = "sysadmin"
)

// securityContexts are those of the profiles.
var securityContexts = map[Profile]*corev1.SecurityContext{
	ProfileGeneral:  {Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_PTRACE"}}},
	ProfileBaseline: nil,
	ProfileRestricted: {
		RunAsNonRoot:             ptr.To(true),
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	},
	ProfileNetadmin: {Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN", "NET_RAW"}}},
	ProfileSysadmin: {Privileged: ptr.To(true)},
}

// Profiles returns all profiles, the default one first.
func Profiles() []Profile {
	return []Profile{ProfileGeneral, ProfileBaseline, ProfileRestricted, ProfileNetadmin, ProfileSysadmin}
}

// IsKnown returns whether there is such a profile. An empty one is the default.
func (p Profile) IsKnown() bool {
	_, isKnown := securityContexts[cmp.Or(p, ProfileGeneral)]
	return isKnown
}

// SecurityContext returns that of a container of the profile, which belongs to the caller; nil is none. A profile that is not
// known is an error.
func (p Profile) SecurityContext() (*corev1.SecurityContext, error) {
	securityContext, isKnown := securityContexts[cmp.Or(p, ProfileGeneral)]
	if !isKnown {
		return nil, fmt.Errorf("unknown profile %q: must be one of %s", string(p), joinProfiles())
	}
	return securityContext.DeepCopy(), nil
}

func joinProfiles() string {
	var names []string
	for _, profile := range Profiles() {
		names = append(names, string(profile))
	}
	return strings.Join(names, ", ")
}
