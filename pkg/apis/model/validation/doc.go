// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package validation says which ModelBoxes are accepted: those whose Deployment and Service the cluster accepts too.
//
// The rules for what a box passes on to its pods and its Service are those of package core/validation, applied to the
// fields of the box. Objects are validated in the internal version, after the defaults of the served one.
//
// What a tag can say, such as +k8s:minimum=0, a tag of the served type says; what is written here is the rest.
//
// A box is validated in two steps: ValidateModelBox validates its own fields, in view of what its overlay,
// spec.podTemplate, says of the pod, and ValidatePodTemplate what the overlay makes of the pod template.
//
// An update is judged by what it changes, see Ratchet: a box that an older release accepted can still be scaled, paused,
// labelled, repaired field by field, and deleted.
package validation
