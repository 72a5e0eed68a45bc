// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package version says which release of the product this is. It stays apart from k8s.io/component-base/version,
// which has to go on naming the version of the Kubernetes libraries: they turn features on and off by it.
package version

import (
	"k8s.io/apimachinery/pkg/util/version"
	baseversion "k8s.io/component-base/version"
)

// Component is the name under which the product's version and feature gates are registered.
const Component = "modelbox"

// Current is the version of the product, MAJOR.MINOR.
const Current = "1.0"

// Kubernetes returns the version of the Kubernetes libraries that a version of the product behaves as: this
// release stands for the libraries it is built with, an older minor one for older ones. Nil for another major.
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
