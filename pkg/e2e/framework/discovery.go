// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// awaitDiscovery waits until the discovery of the cluster has boxes. If an earlier test has killed the server, kube-apiserver
// retries with backoff, and has the resources only some seconds after the restart of the server.
func (p *ControlPlane) awaitDiscovery(t *testing.T) {
	t.Helper()
	Eventually(t, Patience, "discovery has boxes", func() error {
		// The result leaves out groups that cannot be discovered. One error names all of them.
		_, lists, err := p.KubeClient.Discovery().ServerGroupsAndResources()
		for _, list := range lists {
			if list.GroupVersion == modelv1.SchemeGroupVersion.String() {
				return nil
			}
		}
		return errors.Join(errors.New("it has none"), err)
	})
}
