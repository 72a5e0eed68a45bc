// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package validation restates what the API of Kubernetes requires of pod templates and Services: the rules of package
// k8s.io/kubernetes/pkg/apis/core/validation, which cannot be imported, at Version and with its default feature gates. It
// takes objects as users write them: a field that the API would default may be left out.
//
// What it refuses beyond is what the API accepts and the cluster then cannot run, or what server-side apply cannot write.
// A test of the local control plane asks both about the same objects, and lists each difference with its reason.
package validation

// Version is the minor version of Kubernetes whose rules are restated.
const Version = "1.37"
