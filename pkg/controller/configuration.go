// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/prometheus"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

// Configuration is what can be said about the controllers on the command line.
type Configuration struct {
	// Controllers are those to enable: "*" for all that are on by default, "foo" for the one named so, "-foo" for all
	// but that one. The first entry about a controller counts.
	Controllers []string

	ModelBoxController       ModelBoxControllerConfiguration
	ReferencesController     ReferencesControllerConfiguration
	ServiceIngressController ServiceIngressControllerConfiguration
}

// ModelBoxControllerConfiguration is what can be said about the controller of boxes.
type ModelBoxControllerConfiguration struct {
	// ConcurrentSyncs is the number of boxes that are reconciled at the same time. The boxes of one namespace take at most half of
	// it, and at least one.
	ConcurrentSyncs int
	// ResyncPeriod is how often every box is reconciled although nothing happened.
	ResyncPeriod time.Duration
	// Prometheus is what the checks of rollouts query.
	Prometheus prometheus.Config
}

// ServiceIngressControllerConfiguration is what can be said about the controller of the Ingresses of Services.
type ServiceIngressControllerConfiguration struct {
	// Defaults are for Services whose annotations do not say otherwise.
	Defaults serviceingressrender.Defaults
}

// ReferencesControllerConfiguration is what can be said about the controller that restarts boxes when their references change.
type ReferencesControllerConfiguration struct {
	// RestartRate is the number of boxes that restart in a second, at most half of them in one namespace.
	RestartRate float64
	// WatchesSecrets is true if changes of Secrets restart boxes as well.
	WatchesSecrets bool
	// KeySecret is the Secret with the key of the hashes of ConfigMaps and Secrets.
	KeySecret types.NamespacedName
}
