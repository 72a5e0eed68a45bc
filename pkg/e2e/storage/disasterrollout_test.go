// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// emptyDuringRollout loses the data directory while a box has a candidate that is to have no traffic.
func (d *disaster) emptyDuringRollout() {
	const name = "blue-green"
	d.CreateReadyBox(framework.NewBox(name, framework.WithReplicas(2),
		framework.WithSteps(modelv1.RolloutBlueGreen, modelv1.ModelBoxRolloutStep{Pause: modelv1.PauseManual})))
	d.UpdateBox(name, framework.WithImage(framework.NewImage))
	d.AwaitStep(name, 1, 0)
	before := d.stableService(name)
	d.replaceStore(func() { d.setDataDirAside(".rollout") })
	d.AwaitStep(name, 1, 0)
	if after := d.stableService(name); after.ResourceVersion != before.ResourceVersion {
		d.T.Errorf("the Service was written: its selector was %v, and is %v", before.Spec.Selector, after.Spec.Selector)
	}
	d.Promote(name)
	d.AwaitReady(name)
	d.delete(name)
}

// stableService waits until the Service of a box leads to the stable pods only, and returns it.
func (d *disaster) stableService(name string) (service *corev1.Service) {
	d.T.Helper()
	d.Eventually("the Service leads to the stable pods", func() (err error) {
		if service, err = d.Services.Get(d.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if service.Spec.Selector[appsv1.DefaultDeploymentUniqueLabelKey] == "" {
			return fmt.Errorf("its selector is %v", service.Spec.Selector)
		}
		return nil
	})
	return service
}
