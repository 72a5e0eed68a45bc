// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var corruptObjects = metrics.NewGaugeVec(&metrics.GaugeOpts{
	Subsystem:      "modelbox_store",
	Name:           "corrupt_objects",
	Help:           "Number of stored objects that this server cannot read, by resource. Lists and watches leave them out.",
	StabilityLevel: metrics.ALPHA,
}, []string{"resource"})

func init() { legacyregistry.MustRegister(corruptObjects) }
