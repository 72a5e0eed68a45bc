// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"sync"

	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// processMetrics are those that the server's /metrics has. All controllers of a process share them: there is another
// one each time that the process becomes the leader.
var processMetrics = sync.OnceValue(func() *reconciler.Metrics {
	m := reconciler.NewMetrics(Name, noun)
	m.Register(legacyregistry.MustRegister)
	return m
})
