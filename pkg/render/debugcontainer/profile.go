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

// Profile is a profile of "kubectl debug --profile". It determines the security context of a debug container.
type Profile string

const (
	// ProfileGeneral allows tracing processes of other containers. It is the default.
	ProfileGeneral Profile = "general"
	// ProfileBaseline conforms to the Pod Security Standard baseline.
	ProfileBaseline Profile = "baseline"
	// ProfileRestricted conforms to the Pod Security Standard restricted. The image must not run as root.
	ProfileRestricted Profile = "restricted"
	// ProfileNetadmin allows configuring the network of the pod and sending raw packets.
	ProfileNetadmin Profile = "netadmin"
	// ProfileSysadmin is privileged.
	ProfileSysadmin Profile = "sysadmin"
)

// securityContexts are the security contexts of the profiles, nil for none.
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

// IsKnown returns whether the profile exists. An empty profile is the default profile.
func (p Profile) IsKnown() bool {
	_, isKnown := securityContexts[cmp.Or(p, ProfileGeneral)]
	return isKnown
}

// SecurityContext returns a copy of the security context of the profile, nil for none. It returns an error for an unknown profile.
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
