// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package version has the version of the product. It is separate from k8s.io/component-base/version, which must have the version of
// the Kubernetes libraries, because their feature gates depend on it.
package version

import (
	"k8s.io/apimachinery/pkg/util/version"
	baseversion "k8s.io/component-base/version"
)

// Component is the name of the component whose version and feature gates are registered.
const Component = "modelbox"

// Current is the version of the product, MAJOR.MINOR.
const Current = "1.0"

// Kubernetes returns the version of the Kubernetes libraries that a version of the product emulates. This release emulates the
// libraries that it is built with, and an earlier minor version earlier libraries. It returns nil for another major version.
func Kubernetes(product *version.Version) *version.Version {
	current := version.MustParse(Current)
	if product.Major() != current.Major() {
		return nil
	}
	kube := version.MustParse(baseversion.DefaultKubeBinaryVersion)
	mapped := kube.OffsetMinor(int(product.Minor()) - int(current.Minor()))
	if mapped.GreaterThan(kube) {
		return kube
	}
	return mapped
}
