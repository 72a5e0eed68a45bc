// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// randomUpdates is the number of random updates of a box of each workload.
const randomUpdates = 150

// TestAcceptedBoxesHaveAcceptedWorkloads is like TestAcceptedBoxesHaveAcceptedChildren, for StatefulSets and DaemonSets.
func TestAcceptedBoxesHaveAcceptedWorkloads(t *testing.T) {
	t.Parallel()
	expectAcceptedChildren(t, randomWorkload)
}

// TestAcceptedUpdatesAreAcceptedOfWorkloads updates a box of each workload at random. kube-apiserver must accept the update of the
// live workload for every update that the server accepts. The server must refuse changes of immutable fields.
func TestAcceptedUpdatesAreAcceptedOfWorkloads(t *testing.T) {
	t.Parallel()
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet} {
		t.Run(string(workload), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			// The box is paused, so that the controller does not write the workload.
			box := boxOfWorkload(workload)
			box.Spec.Paused = true
			stored, err := n.Boxes.Create(n.Ctx, box, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := applyWorkload(n, stored); err != nil {
				t.Fatal(err)
			}
			accepted := 0
			for seed := range uint64(randomUpdates) {
				changed := box.DeepCopy()
				changeAtRandom(rand.New(rand.NewPCG(seed, 1)), &changed.Spec)
				changed.ResourceVersion = ""
				updated, err := n.Boxes.Update(n.Ctx, changed, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
				if apierrors.IsInvalid(err) {
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				accepted++
				if err := applyWorkload(n, updated, metav1.DryRunAll); err != nil {
					t.Errorf("seed %d: the update was accepted, and then: %v\n%+v", seed, err, updated.Spec)
				}
			}
			t.Logf("%d of %d updates were accepted", accepted, randomUpdates)
			if accepted < randomUpdates/5 || accepted > randomUpdates*4/5 {
				t.Errorf("%d of %d updates were accepted: the random updates are too bad, or too good, to say much", accepted, randomUpdates)
			}
		})
	}
}

func applyWorkload(n *framework.Namespace, box *modelv1.ModelBox, dryRun ...string) error {
	children, err := modelboxrender.Children(box, modelboxrender.ScaledByBox)
	if err != nil {
		return err
	}
	return applyChild(n, children[0], dryRun...)
}

// boxOfWorkload returns a small box with a workload.
func boxOfWorkload(workload modelv1.Workload) *modelv1.ModelBox {
	return framework.NewBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Workload = workload
		if workload == modelv1.WorkloadDaemonSet {
			spec.Replicas = nil
		}
	})
}

func randomWorkload(seed uint64) *modelv1.ModelBox {
	random := rand.New(rand.NewPCG(seed, 0))
	box := boxOfWorkload(pick(random, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet))
	box.Name = strings.Repeat("w", pick(random, 3, 3, 3, 52, 53, 63))
	changeAtRandom(random, &box.Spec)
	return box
}

// changeAtRandom makes a random change of the workload, and possibly another change.
func changeAtRandom(random *rand.Rand, spec *modelv1.ModelBoxSpec) {
	workloadChanges[random.IntN(len(workloadChanges))](random, spec)
	for range random.IntN(changesOfABox) {
		changes := pick(random, workloadChanges, randomChanges)
		changes[random.IntN(len(changes))](random, spec)
	}
}

// workloadChanges are changes of the workload of a box. Some are invalid, or invalid for some workloads.
var workloadChanges = []func(*rand.Rand, *modelv1.ModelBoxSpec){
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Workload = pick(r, s.Workload, s.Workload, modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, "Job")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Replicas = pick(r, nil, ptr.To[int32](0), ptr.To[int32](3))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Strategy = pick(r, modelv1.StrategyRollingUpdate, modelv1.StrategyRecreate)
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.RollingUpdate = pick(r, nil, modelv1.NewRollingUpdate(intstr.Parse(pick(r, "1%", "100%", "3", "0%", "0"))))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		limit := func() *intstr.IntOrString {
			return pick(r, nil, ptr.To(intstr.Parse(pick(r, "0", "0", "1", "0%", "30%", "100%", "101%", "-1"))))
		}
		s.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: limit(), MaxUnavailable: limit()}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) { s.MinReadySeconds = ptr.To(pick[int32](r, 0, 599)) },
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.ServiceType = pick(r, "", modelv1.ServiceTypeClusterIP, modelv1.ServiceTypeHeadless, modelv1.ServiceTypeNodePort)
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Ports = pick(r, nil, []corev1.ServicePort{{Port: 80, NodePort: pick[int32](r, 0, 31080)}, {Port: 81, AppProtocol: ptr.To("http")}})
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Annotations = map[string]string{pick(r, "a", "deprecated.daemonset.template.generation", "deprecated.deployment.rollback.to"): pick(r, "1", "b")}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Labels = map[string]string{pick(r, "team", "controller-revision-hash", "statefulset.kubernetes.io/pod-name"): "a"}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.PodTemplate = &corev1.PodTemplateSpec{Spec: pick(r,
			corev1.PodSpec{Hostname: pick(r, "db", "d_b"), Subdomain: "data"},
			corev1.PodSpec{NodeName: "node-0"},
			corev1.PodSpec{ActiveDeadlineSeconds: ptr.To[int64](60)},
			corev1.PodSpec{RestartPolicy: pick(r, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure)})}
	},
}
