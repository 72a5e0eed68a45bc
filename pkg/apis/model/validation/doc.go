// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package validation validates the objects of the API. It accepts a box if the cluster accepts the children of the box.
//
// Fields that a box passes on to its pods and its Service have the rules of package core/validation. The package validates objects
// in the internal version, with the defaults of the served version.
//
// Rules that a tag can express, such as +k8s:minimum=0, are tags of the served type. This package has all other rules.
//
// A box is validated in two steps. ValidateModelBox validates its fields, and ValidatePodTemplate validates the pod template with
// spec.podTemplate, the overlay of the box, merged in.
//
// An update is refused for the fields that it changes only: see Ratchet. A user can still scale, pause, label, repair field by
// field, and delete a box that an earlier release accepted.
package validation
