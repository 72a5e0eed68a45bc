// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/version"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	basecompatibility "k8s.io/component-base/compatibility"
)

// Serving returns the effective version of the Kubernetes libraries with the response of /version: the version and commit of the
// product, and the version of Kubernetes that it emulates.
func Serving(libraries basecompatibility.EffectiveVersion) basecompatibility.EffectiveVersion {
	return served{libraries}
}

type served struct {
	basecompatibility.EffectiveVersion
}

// Info returns the information of the libraries. It replaces the placeholders, such as the commit, by the values of the product.
func (s served) Info() *apimachineryversion.Info {
	info, product, current := s.EffectiveVersion.Info(), Get(), version.MustParse(Current)
	info.Major, info.Minor = strconv.FormatUint(uint64(current.Major()), 10), strconv.FormatUint(uint64(current.Minor()), 10)
	info.GitVersion, info.GitCommit, info.GitTreeState = product.Version, product.Commit, product.TreeState
	return info
}
