// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// TestRolloutOfOlderStoreIsBroughtUpToDate restores a store from before a later step of a rollout. The pods to which the stored status
// routes the traffic may no longer exist.
func TestRolloutOfOlderStoreIsBroughtUpToDate(t *testing.T) {
	inSteps := func(image string) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) {
			box.Spec.Image = image
			box.Spec.Rollout = &modelv1.ModelBoxRollout{Steps: []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: "1m"}, {Weight: 50, Pause: "1m"}}}
		}
	}
	stable, err := modelboxrender.Record(box("web", "1", inSteps("nginx:1.7.9")))
	if err != nil {
		t.Fatal(err)
	}
	next := box("web", "1", atGeneration(2), inSteps("nginx:1.9.1"))
	former := &model.ModelBoxRolloutStatus{
		Phase: model.RolloutPhase(modelv1.RolloutProgressing), Step: ptr.To(int32(1)), Weight: ptr.To(int32(25)),
		Traffic: &model.ModelBoxRolloutTraffic{Service: model.TrafficTarget(modelv1.TrafficToStable), StableHash: "gone", Weight: 25},
	}
	failed := &model.ModelBoxRolloutStatus{Phase: model.RolloutPhase(modelv1.RolloutFailed), Message: "the image does not exist"}
	for _, row := range []struct {
		name        string
		annotations map[string]string
		stored      *model.ModelBoxRolloutStatus
		check       func(*model.ModelBoxRolloutStatus) bool
	}{
		{"the workload is in a later step", map[string]string{modelv1.StableRecordAnnotation: stable, modelv1.RolloutStepAnnotation: "2"}, former,
			func(got *model.ModelBoxRolloutStatus) bool { return got != nil && *got.Step == 2 && got.Traffic == nil }},
		{"the rollout is complete", nil, former,
			func(got *model.ModelBoxRolloutStatus) bool { return got == nil }},
		{"the rollout has begun since", map[string]string{modelv1.StableRecordAnnotation: stable, modelv1.RolloutStepAnnotation: "1"}, nil,
			func(got *model.ModelBoxRolloutStatus) bool { return got != nil && *got.Step == 1 }},
		{"a rollout without steps has failed", nil, failed,
			func(got *model.ModelBoxRolloutStatus) bool { return got != nil && got.Message == failed.Message }},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, deploymentOf(t, next, func(workload *metav1.PartialObjectMetadata) {
				for key, value := range row.annotations {
					workload.Annotations[key] = value
				}
			}))
			web, err := newBox(next)
			if err != nil {
				t.Fatal(err)
			}
			web.Status.Rollout = row.stored
			if err := f.boxes.create(t.Context(), web); err != nil {
				t.Fatal(err)
			}
			own := f.serve(Current)
			own.Revision += 1000
			f.setLease(own)
			f.serve(Behind)
			if got := f.stored()["web"].Status.Rollout; !row.check(got) {
				t.Errorf("the rollout is %v", got)
			}
		})
	}
}

// TestRecoveredBoxKeepsItsTraffic loses the store while the Service of a box leads to its stable pods.
func TestRecoveredBoxKeepsItsTraffic(t *testing.T) {
	blueGreen := func(image string) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) {
			box.Spec.Image, box.Spec.Ports = image, []corev1.ServicePort{{Port: 80}}
			box.Spec.Rollout = &modelv1.ModelBoxRollout{Type: ptr.To(modelv1.RolloutBlueGreen)}
		}
	}
	stable, err := modelboxrender.Record(box("web", "1", blueGreen("nginx:1.7.9")))
	if err != nil {
		t.Fatal(err)
	}
	next := box("web", "1", atGeneration(2), blueGreen("nginx:1.9.1"))
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "web", OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(next, modelboxrender.Kind),
		}},
		Spec: corev1.ServiceSpec{Selector: map[string]string{modelv1.SelectorLabel: "web", appsv1.DefaultDeploymentUniqueLabelKey: "5d8f7c9b6"}},
	}
	newStep := func(t *testing.T) *fixture {
		return newFixture(t, deploymentOf(t, next, func(workload *metav1.PartialObjectMetadata) {
			workload.Annotations[modelv1.StableRecordAnnotation], workload.Annotations[modelv1.RolloutStepAnnotation] = stable, "1"
		}))
	}
	t.Run("with a Service", func(t *testing.T) {
		f := newStep(t)
		if err := f.cluster.Tracker().Add(service); err != nil {
			t.Fatal(err)
		}
		f.serve(Empty)
		want := &model.ModelBoxRolloutTraffic{Service: model.TrafficTarget(modelv1.TrafficToStable), StableHash: "5d8f7c9b6"}
		if diff := cmp.Diff(want, f.stored()["web"].Status.Rollout.Traffic); diff != "" {
			t.Errorf("traffic: -want +got:\n%s", diff)
		}
	})
	t.Run("without a Service", func(t *testing.T) {
		f := newStep(t)
		f.serve(Empty)
		if rollout := f.stored()["web"].Status.Rollout; *rollout.Step != 1 || rollout.Traffic != nil {
			t.Errorf("the rollout is %v", rollout)
		}
	})
	t.Run("with a Service that cannot be read", func(t *testing.T) {
		f := newStep(t)
		f.cluster.PrependReactor("get", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("the cluster is down")
		})
		if _, err := f.attempt(); err == nil || !strings.Contains(err.Error(), "getting the Service of box") {
			t.Errorf("the error is %v", err)
		}
	})
}
