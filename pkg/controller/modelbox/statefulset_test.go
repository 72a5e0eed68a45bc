// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// completeStatefulSet returns a StatefulSet of three replicas whose rollout is complete.
func completeStatefulSet(changes ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault, UID: "set", Generation: 5},
		Spec: appsv1.StatefulSetSpec{
			Replicas:       ptr.To[int32](3),
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](0)}},
		},
		Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 5, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, UpdateRevision: "web-2",
		},
	}
	for _, change := range changes {
		change(set)
	}
	return set
}

func statefulBox(t *testing.T) *modelv1.ModelBox {
	return fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Workload = modelv1.WorkloadStatefulSet })
}

// messageOf returns the message of a condition.
func messageOf(t *testing.T, all []metav1.Condition, condition string) string {
	t.Helper()
	return meta.FindStatusCondition(all, condition).Message
}

func TestConditionsOfAStatefulSet(t *testing.T) {
	partition := func(partition int32) func(*appsv1.StatefulSet) {
		return func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.RollingUpdate.Partition = &partition
			s.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-edit",
				FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:updateStrategy":{"f:rollingUpdate":{"f:partition":{}}}}}`)}}
		}
	}
	const partitioned = "kubectl-edit has set the partition of the StatefulSet to 1: pods of lower ordinals are not updated until it is 0"
	held := good.with(conditions{ready: "False StatefulSetPartitioned", progressing: "False StatefulSetPartitioned"})
	unavailable := rollingOut.with(conditions{available: "False MinimumReplicasUnavailable"})
	for _, row := range []struct {
		name    string
		change  func(*appsv1.StatefulSet)
		want    conditions
		message string
	}{
		{"its rollout is complete", func(*appsv1.StatefulSet) {}, good, "3 of 3 replicas are available"},
		{"its spec is not observed", func(s *appsv1.StatefulSet) { s.Generation++ }, rollingOut, "waiting for the StatefulSet spec update to be observed"},
		{"pods are not updated", func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas = 1 }, rollingOut, "1 out of 3 new replicas have been updated"},
		{"there are too many pods", func(s *appsv1.StatefulSet) { s.Status.Replicas = 5 }, rollingOut, "2 surplus replicas are pending termination"},
		{"one pod is not available", func(s *appsv1.StatefulSet) { s.Status.AvailableReplicas = 2 }, rollingOut, "2 of 3 updated replicas are available"},
		{"more pods are not available than an update may take away", func(s *appsv1.StatefulSet) { s.Status.AvailableReplicas = 1 },
			unavailable, "1 of 3 updated replicas are available"},
		{"no more pods are not available than the strategy says", func(s *appsv1.StatefulSet) {
			s.Status.AvailableReplicas = 1
			s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = ptr.To(intstr.FromInt32(2))
		}, rollingOut, "1 of 3 updated replicas are available"},
		{"the only pod is not available", func(s *appsv1.StatefulSet) {
			s.Spec.Replicas, s.Status = ptr.To[int32](1), appsv1.StatefulSetStatus{ObservedGeneration: 5, Replicas: 1, UpdatedReplicas: 1}
		}, unavailable, "0 of 1 updated replicas are available"},
		{"a rollout comes to the partition", func(s *appsv1.StatefulSet) {
			partition(1)(s)
			s.Status.UpdatedReplicas, s.Status.AvailableReplicas = 1, 2
		}, rollingOut, "1 out of 3 new replicas have been updated; " + partitioned},
		{"a rollout waits at the partition", func(s *appsv1.StatefulSet) {
			partition(1)(s)
			s.Status.UpdatedReplicas = 2
		}, held, "2 out of 3 new replicas have been updated; " + partitioned},
		{"there is a partition, and nothing to roll out", partition(1), good, "3 of 3 replicas are available; " + partitioned},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := status.ConditionsOf(statefulBox(t), &status.Observation{Workload: kinds.AsWorkload(completeStatefulSet(row.change))})
			check(t, "conditions", row.want, summarize(got))
			check(t, "message", row.message, messageOf(t, got, modelv1.ConditionProgressing))
		})
	}
	t.Run("there is none yet", func(t *testing.T) {
		got := status.ConditionsOf(statefulBox(t), &status.Observation{})
		check(t, "message", "there is no StatefulSet yet", messageOf(t, got, modelv1.ConditionAvailable))
	})
}

func TestEarlierPodsOfAStatefulSet(t *testing.T) {
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{appsv1.StatefulSetPodNameLabel: name}}}
	}
	for _, row := range []struct {
		name   string
		change func(*appsv1.StatefulSet)
		pods   []*corev1.Pod
		want   int32
	}{
		{"its own", func(*appsv1.StatefulSet) {}, []*corev1.Pod{pod("web-0"), pod("web-1"), pod("web-2")}, 0},
		{"one of a larger one", func(*appsv1.StatefulSet) {}, []*corev1.Pod{pod("web-0"), pod("web-1"), pod("web-2"), pod("web-3")}, 1},
		{"of another StatefulSet", func(*appsv1.StatefulSet) {}, []*corev1.Pod{pod("webs-7"), pod("web-api-7")}, 0},
		{"of no StatefulSet", func(*appsv1.StatefulSet) {}, []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "web-7"}}}, 0},
		{"any, although it is to have none", func(s *appsv1.StatefulSet) { s.Spec.Replicas = ptr.To[int32](0) }, []*corev1.Pod{pod("web-0")}, 1},
		{"its own from another ordinal", func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5} },
			[]*corev1.Pod{pod("web-4"), pod("web-5"), pod("web-7"), pod("web-8")}, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			check(t, "earlier pods", row.want, kinds.AsWorkload(completeStatefulSet(row.change)).EarlierPods(row.pods))
		})
	}
}

func TestImmutableFieldsOfAStatefulSet(t *testing.T) {
	rendered := fixture.Rendered(t, statefulBox(t), "StatefulSet")
	parallelBox := statefulBox(t)
	parallelBox.Spec.PodManagementPolicy = ptr.To(modelv1.PodManagementParallel)
	parallel := fixture.Rendered(t, parallelBox, "StatefulSet")
	live := func(changes ...func(*appsv1.StatefulSetSpec)) *appsv1.StatefulSet {
		set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
			ServiceName: "web-headless",
			Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{modelv1.SelectorLabel: "web"}},
		}}
		for _, change := range changes {
			change(&set.Spec)
		}
		return set
	}
	ofPolicy := func(policy appsv1.PodManagementPolicyType) func(*appsv1.StatefulSetSpec) {
		return func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = policy }
	}
	otherSelector := func(s *appsv1.StatefulSetSpec) { s.Selector.MatchLabels = map[string]string{"app": "web"} }
	for _, row := range []struct {
		name        string
		rendered    *unstructured.Unstructured
		live        *appsv1.StatefulSet
		want        string
		propagation metav1.DeletionPropagation
	}{
		{"the same", rendered, live(), "", metav1.DeletePropagationOrphan},
		{"another Service", rendered, live(func(s *appsv1.StatefulSetSpec) { s.ServiceName = "db" }),
			`its serviceName is "db" and cannot become "web-headless"`, metav1.DeletePropagationOrphan},
		{"a volume that the box does not have", rendered, live(func(s *appsv1.StatefulSetSpec) {
			s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				}},
			}}
		}), "its volumeClaimTemplates are [data 1Gi] and cannot become []", metav1.DeletePropagationOrphan},
		{"a policy of which the box says nothing", rendered, live(ofPolicy(appsv1.ParallelPodManagement)), "", metav1.DeletePropagationOrphan},
		{"the policy of the box", parallel, live(ofPolicy(appsv1.ParallelPodManagement)), "", metav1.DeletePropagationOrphan},
		{"another policy", parallel, live(ofPolicy(appsv1.OrderedReadyPodManagement)),
			`its podManagementPolicy is "OrderedReady" and cannot become "Parallel"`, metav1.DeletePropagationOrphan},
		{"another selector, whose pods would stay", rendered, live(otherSelector), `its selector is "app=web" and cannot become "modelbox=web"`, metav1.DeletePropagationBackground},
	} {
		t.Run(row.name, func(t *testing.T) {
			check(t, "obstacle", row.want, modelboxrender.Immutable(row.rendered, row.live))
			check(t, "propagation", row.propagation, kinds.StatefulSetReplacePropagation(row.rendered, row.live))
		})
	}
}

func TestTrimChildKeepsWhoSetThePartition(t *testing.T) {
	set := completeStatefulSet(func(s *appsv1.StatefulSet) {
		s.Spec.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](1)
		s.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kubectl-edit", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:updateStrategy":{"f:rollingUpdate":{"f:partition":{}}}}}`)},
			{Manager: "kubectl-label", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:team":{}}}}`)},
		}
	})
	trimmed, err := kinds.TrimChild(set)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "managers", []string{"kubectl-edit "}, managers(trimmed.(metav1.Object)))
}

// The StatefulSet stays until the garbage collector has orphaned its pods. Its values are not lost in the meantime. The new one
// never has fewer replicas, even if its controller is faster than the next write.
func TestStatefulSetIsReplacedOnceItHasGone(t *testing.T) {
	f := newTestController(t, statefulBox(t))
	f.converge(t)
	f.cache(t, autoscalerOf("apps/v1", "StatefulSet"))
	f.converge(t) // which hands the replicas over
	sets := f.cluster.AppsV1().StatefulSets(fixture.WebKey.Namespace)
	resource := appsv1.SchemeGroupVersion.WithResource("statefulsets")
	change := func(change func(*appsv1.StatefulSet)) {
		set, err := f.cluster.Tracker().Get(resource, fixture.WebKey.Namespace, "web")
		if err != nil {
			t.Fatal(err)
		}
		change(set.(*appsv1.StatefulSet))
		if err := f.cluster.Tracker().Update(resource, set, fixture.WebKey.Namespace, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
			t.Fatal(err)
		}
	}
	change(func(s *appsv1.StatefulSet) {
		s.Spec.Replicas, s.Spec.ServiceName, s.Labels["team"] = ptr.To[int32](5), "another", "shop"
	})
	var propagation *metav1.DeletionPropagation
	isOrphaning := true
	f.cluster.PrependReactor("delete", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if !isOrphaning {
			return false, nil, nil
		}
		propagation = action.(clienttesting.DeleteActionImpl).DeleteOptions.PropagationPolicy
		change(func(s *appsv1.StatefulSet) { s.DeletionTimestamp = ptr.To(metav1.Now()) })
		return true, nil, nil
	})
	f.catchUp(t)

	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrBeingDeleted) {
		t.Fatalf("got %v", err)
	}
	check(t, "propagation", ptr.To(metav1.DeletePropagationOrphan), propagation)
	f.catchUp(t)
	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrBeingDeleted) {
		t.Fatalf("got %v", err)
	}

	isOrphaning = false
	if err := sets.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
	var seen []int32
	isRefused := false
	f.cluster.PrependReactor("patch", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
		set, err := f.cluster.Tracker().Get(resource, fixture.WebKey.Namespace, "web")
		if err != nil {
			return false, nil, nil
		}
		// Its controller writes to it as soon as it is there.
		if isRefused = !isRefused; isRefused {
			return true, nil, apierrors.NewConflict(resource.GroupResource(), "web", errors.New("it has been modified"))
		}
		seen = append(seen, *set.(*appsv1.StatefulSet).Spec.Replicas)
		return false, nil, nil
	})
	f.mustReconcile(t)
	set, err := sets.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "replicas between the writes", []int32{5, 5}, seen)
	check(t, "replicas", ptr.To[int32](5), set.Spec.Replicas)
	check(t, "governing Service", "web-headless", set.Spec.ServiceName)
	check(t, "label of another manager", "shop", set.Labels["team"])
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests when all is as it should be", []string(nil), f.requests())
}

// Without a StatefulSet nothing would restart the pods that it leaves.
func TestStatefulSetStaysWhoseReplacementIsDenied(t *testing.T) {
	for _, row := range []struct {
		name    string
		denial  error
		applied string
		want    bool
	}{
		{"by a policy", apierrors.NewForbidden(appsv1.Resource("statefulsets"), "web", errors.New("denied by policy")), "False Forbidden", false},
		{"by a webhook that does not answer", apierrors.NewInternalError(errors.New("failed calling webhook")), "False Error", false},
		{"by nothing, since a quota counts the one that goes", apierrors.NewForbidden(appsv1.Resource("statefulsets"), "web", errors.New("exceeded quota: sets")), "True Applied", true},
		{"by nothing", nil, "True Applied", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, statefulBox(t))
			f.converge(t)
			f.update(t, func(box *modelv1.ModelBox) {
				withStorage(discarded)(box)
				box.Generation++
			})
			f.catchUp(t)
			f.cluster.PrependReactor("create", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
				check(t, "dry run", []string{metav1.DryRunAll}, action.(clienttesting.CreateActionImpl).CreateOptions.DryRun)
				return row.denial != nil, nil, row.denial
			})
			if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); row.want != (err == nil) {
				t.Errorf("got error %v", err)
			}
			check(t, "is deleted", row.want, slices.Contains(f.requests(), "delete statefulsets web"))
			check(t, "applied", row.applied, f.status(t).applied)
		})
	}
}
