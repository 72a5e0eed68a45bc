// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"testing"
	"time"
)

// grantPatience is the timeout for a server to notice a permission that it did not have before.
const grantPatience = 3 * time.Minute

// NewServiceIngressControlPlane returns a separate control plane whose server runs the controller serviceingress, with the
// permissions of the component. flags are additional flags of localcluster.
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

// CheckServiceIngress returns the error of the health check of the controller serviceingress, which servers do not run by default.
func (p *ControlPlane) CheckServiceIngress(t *testing.T) error {
	t.Helper()
	return p.DirectClient(t).Get().AbsPath("/healthz/controllers/serviceingress").Do(t.Context()).Error()
}
