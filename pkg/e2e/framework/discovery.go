// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// awaitDiscovery waits until the cluster tells clients such as kubectl that it has boxes. Where a test before has killed the
// server, kube-apiserver asks what it has after ever longer times, and knows it only some seconds after the server is back.
func (p *ControlPlane) awaitDiscovery(t *testing.T) {
	t.Helper()
	Eventually(t, Patience, "discovery has boxes", func() error {
		// Groups that cannot be discovered are left out, and told in an error that is about all of them.
		_, lists, err := p.KubeClient.Discovery().ServerGroupsAndResources()
		for _, list := range lists {
			if list.GroupVersion == modelv1.SchemeGroupVersion.String() {
				return nil
			}
		}
		return errors.Join(errors.New("it has none"), err)
	})
}
