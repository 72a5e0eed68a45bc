// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package validation says which ModelBoxes are accepted: those whose Deployment and Service the cluster accepts too.
//
// The rules for what a box passes on to its pods are those of the Kubernetes 1.36 API with its default feature
// gates, applied to the fields of the box. A field that the cluster's API would default may be left out here as
// well. Objects are validated in the internal version, after the defaults of the served one.
//
// What a tag can say, such as +k8s:minimum=0, a tag of the served type says; what is written here is the rest.
//
// A box is validated in two steps: ValidateModelBox validates its own fields, in view of what its overlay,
// spec.podTemplate, says of the pod, and ValidatePodTemplate what the overlay makes of the pod template.
package validation
