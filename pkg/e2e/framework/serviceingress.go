// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"testing"
	"time"
)

// grantPatience is how long a server may take that has tried in vain to read what it was not granted yet.
const grantPatience = 3 * time.Minute

// NewServiceIngressControlPlane returns a control plane of the test's own, with these flags of localcluster besides those by which
// its server runs the controller serviceingress, and with the rights that the component grants.
func NewServiceIngressControlPlane(t *testing.T, flags ...string) *ControlPlane {
	t.Helper()
	plane := NewControlPlane(t, append(flags, ServerFlags("--controllers=*,serviceingress")...)...)
	plane.NewNamespace(t).Kubectl.Run("apply", "--filename="+InRepository("artifacts", "components", "serviceingress", "rbac.yaml"))
	Eventually(t, grantPatience, "the controller has read the Ingresses", func() error {
		synced := Sum(Scrape(t, plane.DirectClient(t)), "modelbox_controller_cache_synced",
			map[string]string{"resource": "ingresses.networking.k8s.io"})
		if synced != 1 {
			return fmt.Errorf("the metric of its cache is %v", synced)
		}
		return plane.CheckServiceIngress(t)
	})
	return plane
}

// CheckServiceIngress returns why the controller serviceingress does not work, which servers do not run by default.
func (p *ControlPlane) CheckServiceIngress(t *testing.T) error {
	t.Helper()
	return p.DirectClient(t).Get().AbsPath("/healthz/controllers/serviceingress").Do(t.Context()).Error()
}
