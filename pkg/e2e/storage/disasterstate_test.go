// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// disasterState is the state that a disaster must not change.
type disasterState struct {
	// Boxes, Stacks and Networks have the objects without fields that may change: resource versions, managed fields and status.
	Boxes    map[string]modelv1.ModelBox
	Stacks   map[string]modelv1.ModelStack
	Networks map[string]modelv1.Network
	// Children has the UIDs of the children of boxes, stacks and Networks, and Pods the restarts of each pod.
	Children map[string]types.UID
	Pods     map[types.UID]int32
	// store is the store that the Lease names.
	store string
	// writes is the number of writes of the children of boxes and Networks.
	writes int
}

// state waits until every box is Ready and the pods of former boxes are deleted, and returns the state.
func (d *disaster) state() disasterState {
	d.T.Helper()
	var state disasterState
	d.Eventually("all boxes are Ready", func() error {
		state = disasterState{
			Boxes: map[string]modelv1.ModelBox{}, Stacks: map[string]modelv1.ModelStack{}, Networks: map[string]modelv1.Network{},
			Children: map[string]types.UID{}, Pods: map[types.UID]int32{},
		}
		boxes, err := d.Namespace.Boxes.List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, box := range boxes.Items {
			if err := framework.CheckCondition(&box, modelv1.ConditionReady, metav1.ConditionTrue, ""); err != nil {
				return fmt.Errorf("box %s: %w", box.Name, err)
			}
			box.ResourceVersion, box.ManagedFields, box.Status = "", nil, modelv1.ModelBoxStatus{}
			state.Boxes[box.Name] = box
		}
		stacks, err := d.stacks().List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, stack := range stacks.Items {
			ready := meta.FindStatusCondition(stack.Status.Conditions, modelv1.ConditionReady)
			if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != stack.Generation {
				return fmt.Errorf("stack %s: it has %+v", stack.Name, ready)
			}
			stack.ResourceVersion, stack.ManagedFields, stack.Status = "", nil, modelv1.ModelStackStatus{}
			state.Stacks[stack.Name] = stack
		}
		revisions, err := d.ControlPlane.KubeClient.AppsV1().ControllerRevisions(d.Name).List(d.Ctx, metav1.ListOptions{LabelSelector: modelv1.StackLabel})
		if err != nil {
			return err
		}
		if len(revisions.Items) != len(state.Stacks) {
			return fmt.Errorf("%d stacks have %d records", len(state.Stacks), len(revisions.Items))
		}
		for _, revision := range revisions.Items {
			state.Children["ControllerRevision "+revision.Name] = revision.UID
		}
		if err := d.addNetworks(&state); err != nil {
			return err
		}
		for name, box := range state.Boxes {
			workload, err := d.FindWorkload(box.Spec.Workload, name)
			if err != nil {
				return err
			}
			state.Children[string(box.Spec.Workload)+" "+name] = workload.GetUID()
		}
		services, err := d.Services.List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, service := range services.Items {
			state.Children["Service "+service.Name] = service.UID
		}
		autoscalers, err := d.ControlPlane.KubeClient.AutoscalingV2().HorizontalPodAutoscalers(d.Name).List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, autoscaler := range autoscalers.Items {
			state.Children["HorizontalPodAutoscaler "+autoscaler.Name] = autoscaler.UID
		}
		budgets, err := d.ControlPlane.KubeClient.PolicyV1().PodDisruptionBudgets(d.Name).List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, budget := range budgets.Items {
			state.Children["PodDisruptionBudget "+budget.Name] = budget.UID
		}
		policies, err := d.ControlPlane.KubeClient.NetworkingV1().NetworkPolicies(d.Name).List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, policy := range policies.Items {
			state.Children["NetworkPolicy "+policy.Name] = policy.UID
		}
		pods, err := d.Pods.List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodSucceeded {
				return fmt.Errorf("pod %s is starting or being deleted", pod.Name)
			}
			for _, container := range pod.Status.ContainerStatuses {
				state.Pods[pod.UID] += container.RestartCount
			}
		}
		return nil
	})
	state.store = d.ControlPlane.AwaitLeader(d.T, "").Labels["model.github.com/store"]
	for _, write := range d.Audit.ClusterWrites() {
		_, isOfABox := state.Boxes[write.ObjectRef.Name]
		_, isOfANetwork := state.Networks[write.ObjectRef.Name]
		if isOfABox || isOfANetwork {
			state.writes++
		}
	}
	return state
}

// expectRecovered checks that the state has not changed after the garbage collector has worked.
func (d *disaster) expectRecovered(before disasterState, situation string) {
	d.T.Helper()
	metrics := framework.Scrape(d.T, d.ControlPlane.DirectClient(d.T))
	if got := framework.Sum(metrics, "modelbox_store_starts_total", map[string]string{"situation": situation}); got != 1 {
		d.T.Errorf("modelbox_store_starts_total for the situation %s is %v", situation, got)
	}
	after := d.state()
	canary := "canary-" + strings.ToLower(situation)
	d.CreateReadyBox(framework.NewBox(canary))
	d.delete(canary)

	d.expectTold()
	if diff := cmp.Diff(before, d.state(), cmpopts.IgnoreUnexported(disasterState{})); diff != "" {
		d.T.Errorf("-before +after:\n%s", diff)
	}
	if after.writes != before.writes {
		d.T.Errorf("%d writes of children without a difference", after.writes-before.writes)
	}
	if before.store == "" || before.store == after.store {
		d.T.Errorf("the Lease names store %q, and named store %q before", after.store, before.store)
	}
	d.T.Logf("%d boxes, %d stacks, %d networks, %d children and %d pods are as they were; the store is %s after %s",
		len(after.Boxes), len(after.Stacks), len(after.Networks), len(after.Children), len(after.Pods), after.store, before.store)
}

// expectTold checks that an informer that was started before the disaster has the stored objects.
func (d *disaster) expectTold() {
	d.T.Helper()
	d.Eventually("the informer has told what there is", func() error {
		boxes, err := d.Namespace.Boxes.List(d.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		stored := map[string]string{}
		for i := range boxes.Items {
			stored[boxes.Items[i].Name] = versionOf(&boxes.Items[i])
		}
		if diff := cmp.Diff(stored, d.told.copy()); diff != "" {
			return fmt.Errorf("-stored +received:\n%s", diff)
		}
		return nil
	})
}

func namespaceNamed(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func configMapNamed(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
