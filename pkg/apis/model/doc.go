// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +groupName=model.github.com

// Package model holds the internal types of the model.github.com API group: the hub that every served
// version converts to, and that the registry stores and validates.
package model
