// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var buildInfo = metrics.NewGaugeVec(&metrics.GaugeOpts{
	Subsystem:      Component,
	Name:           "build_info",
	Help:           "Always 1. The labels have the version and the commit of the server, the versions of the Kubernetes libraries and of Go, and the platform.",
	StabilityLevel: metrics.ALPHA,
}, []string{"version", "commit", "tree_state", "kubernetes_version", "go_version", "platform"})

func init() {
	legacyregistry.MustRegister(buildInfo)
	info := Get()
	buildInfo.WithLabelValues(info.Version, info.Commit, info.TreeState, info.Kubernetes, info.GoVersion, info.Platform).Set(1)
}
