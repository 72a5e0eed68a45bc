// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/apps"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// observeTraffic checks that a Service that leads to the stable pods of a box in steps does not lead to its candidate as well before the
// steps are over. It may, while the stable pods are restarted: the Service cannot select the pods of two templates.
func (c *checks) observeTraffic(change store.Change) {
	before, isService := change.Before.(*api.Service)
	after, _ := change.After.(*api.Service)
	if !isService || after == nil || !c.isController() {
		return
	}
	hash := before.Spec.Selector[appsv1.DefaultDeploymentUniqueLabelKey]
	if hash == "" || after.Spec.Selector[appsv1.DefaultDeploymentUniqueLabelKey] != "" || after.Spec.Selector[modelv1.CandidateLabel] != "" {
		return
	}
	box := c.box(after.Name)
	if box == nil || !metav1.IsControlledBy(after, box) || !splitsTraffic(box) || !c.hasStablePods(box) {
		return
	}
	candidates := 0
	for _, pod := range c.pods(box) {
		switch {
		case pod.Labels[modelv1.CandidateLabel] == "":
			if pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] != hash {
				return // The stable pods are being restarted.
			}
		case cluster.IsReady(pod):
			candidates++
		}
	}
	if candidates > 0 {
		c.violate("no candidate gets traffic before its step", "box %s: the Service leads to %d pods of the candidate", box.Name, candidates)
	}
}

// splitsTraffic returns whether the box is in steps that lead the traffic to the stable pods and to the candidate apart from each other.
func splitsTraffic(box *model.ModelBox) bool {
	wanted, rollout := box.Spec.Rollout, box.Status.Rollout
	if wanted == nil || wanted.Type == nil || len(box.Spec.Ports) == 0 || rollout == nil || rollout.Step == nil || int(*rollout.Step) > max(1, len(wanted.Steps)) {
		return false
	}
	return *wanted.Type == model.RolloutBlueGreen || box.Spec.Route != nil || box.Spec.GRPCRoute != nil
}

// hasStablePods returns whether the Deployment of the box has the stable pods.
func (c *checks) hasStablePods(box *model.ModelBox) bool {
	deployment, _ := c.world.kubernetes.Object("/deployments/" + box.Namespace + "/" + box.Name).(*apps.Deployment)
	return deployment != nil && deployment.Annotations[modelv1.RolledBackAnnotation] != ""
}
