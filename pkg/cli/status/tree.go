// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// health is how something is doing, for its colour.
type health int

const (
	healthy health = iota
	underway
	failing
)

// node is one line of the tree.
type node struct {
	// name is KIND/NAME.
	name    string
	object  metav1.Object
	ready   string
	status  string
	message string
	health  health
	nodes   []*node
}

// world is what there is in the cluster for trees to be made of.
type world struct {
	boxes        []*modelv1.ModelBox
	deployments  []*appsv1.Deployment
	statefulSets []*appsv1.StatefulSet
	daemonSets   []*appsv1.DaemonSet
	replicaSets  []*appsv1.ReplicaSet
	jobs         []*batchv1.Job
	cronJobs     []*batchv1.CronJob
	pods         []*corev1.Pod
	events       []*corev1.Event
}

// trees returns the trees of stacks, and the trees of boxes that are in none of them.
func (w *world) trees(objects *cliutil.Objects) []*node {
	children := w.byController()
	var roots []*node
	shown := map[types.UID]bool{}
	for _, stack := range objects.Stacks {
		roots = append(roots, stackNode(stack, children))
		for _, child := range children[stack.UID] {
			shown[child.GetUID()] = true
		}
	}
	for _, box := range objects.Boxes {
		if !shown[box.UID] {
			roots = append(roots, boxNode(box, children))
		}
	}
	return roots
}

// owned are the objects that each object controls, by its UID.
type owned map[types.UID][]metav1.Object

func (w *world) byController() owned {
	children := owned{}
	addAll(children, w.boxes)
	addAll(children, w.deployments)
	addAll(children, w.statefulSets)
	addAll(children, w.daemonSets)
	addAll(children, w.replicaSets)
	addAll(children, w.jobs)
	addAll(children, w.cronJobs)
	addAll(children, w.pods)
	for _, objects := range children {
		slices.SortFunc(objects, func(a, b metav1.Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	}
	return children
}

func addAll[O metav1.Object](to owned, objects []O) {
	for _, object := range objects {
		if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
			to[controller.UID] = append(to[controller.UID], object)
		}
	}
}

// under returns the nodes of what an object controls.
func (o owned) under(object metav1.Object) []*node {
	var nodes []*node
	for _, child := range o[object.GetUID()] {
		switch child := child.(type) {
		case *modelv1.ModelBox:
			nodes = append(nodes, boxNode(child, o))
		case *appsv1.Deployment:
			nodes = append(nodes, deploymentNode(child, o))
		case *appsv1.StatefulSet:
			n := replicasNode("StatefulSet/", child, child.Status.ReadyReplicas, ptr.Deref(child.Spec.Replicas, 1))
			n.nodes = o.under(child)
			nodes = append(nodes, n)
		case *appsv1.DaemonSet:
			n := replicasNode("DaemonSet/", child, child.Status.NumberReady, child.Status.DesiredNumberScheduled)
			n.nodes = o.under(child)
			nodes = append(nodes, n)
		case *appsv1.ReplicaSet:
			// The ReplicaSets of earlier revisions are kept for a rollback, and have no pods.
			if ptr.Deref(child.Spec.Replicas, 1) > 0 || child.Status.Replicas > 0 {
				nodes = append(nodes, replicaSetNode(child, o))
			}
		case *batchv1.Job:
			// The Jobs before and after rollouts are no part of what runs.
			if _, hasType := child.Labels[modelv1.JobTypeLabel]; !hasType {
				nodes = append(nodes, jobNode(child, o))
			}
		case *batchv1.CronJob:
			nodes = append(nodes, cronJobNode(child, o))
		case *corev1.Pod:
			nodes = append(nodes, podNode(child))
		}
	}
	return nodes
}

func stackNode(stack *modelv1.ModelStack, children owned) *node {
	n := summaryNode("ModelStack/", stack, stack.Status.Conditions)
	n.ready = fmt.Sprintf("%d/%d", stack.Status.ReadyComponents, stack.Status.TotalComponents)
	n.nodes = children.under(stack)
	there := map[string]bool{}
	for _, child := range children[stack.UID] {
		there[child.GetLabels()[modelv1.ComponentLabel]] = true
	}
	// A component that waits has no box yet, and what is outside never has one.
	for i := range stack.Status.Components {
		if component := &stack.Status.Components[i]; !there[component.Name] {
			n.nodes = append(n.nodes, componentNode(component))
		}
	}
	return n
}

func componentNode(component *modelv1.ModelStackComponentStatus) *node {
	n := &node{
		name:    "Component/" + component.Name,
		status:  string(component.State),
		message: cliutil.OneLine(component.Message),
		health:  underway,
	}
	switch component.State {
	case modelv1.ComponentReady:
		n.health = healthy
	case modelv1.ComponentStalled:
		n.health = failing
	}
	if n.message == "" && len(component.WaitingFor) > 0 {
		n.message = "waiting for " + strings.Join(component.WaitingFor, ", ")
	}
	return n
}

func boxNode(box *modelv1.ModelBox, children owned) *node {
	n := summaryNode("ModelBox/", box, box.Status.Conditions)
	n.ready = fmt.Sprintf("%d/%d", box.Status.ReadyReplicas, cliutil.DesiredReplicas(box))
	n.nodes = children.under(box)
	return n
}

func summaryNode(kind string, object metav1.Object, conditions []metav1.Condition) *node {
	summary := cliutil.SummaryOf(object, conditions)
	n := &node{name: kind + object.GetName(), object: object, status: summary.Reason, health: underway}
	switch {
	case summary.IsReady:
		n.health = healthy
		return n
	case summary.IsStalled:
		n.health = failing
	}
	n.message = cliutil.OneLine(summary.Message)
	return n
}

func replicasNode(kind string, object metav1.Object, ready, desired int32) *node {
	n := &node{name: kind + object.GetName(), object: object, ready: fmt.Sprintf("%d/%d", ready, desired), health: underway}
	if ready >= desired {
		n.health = healthy
	}
	if object.GetDeletionTimestamp() != nil {
		n.status, n.health = "Terminating", underway
	}
	return n
}

func deploymentNode(deployment *appsv1.Deployment, children owned) *node {
	n := replicasNode("Deployment/", deployment, deployment.Status.ReadyReplicas, ptr.Deref(deployment.Spec.Replicas, 1))
	n.nodes = children.under(deployment)
	if deployment.Spec.Paused {
		n.status = "Paused"
	}
	for i := range deployment.Status.Conditions {
		condition := &deployment.Status.Conditions[i]
		isFailure := condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue ||
			condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse
		if isFailure {
			n.status, n.message, n.health = condition.Reason, cliutil.OneLine(condition.Message), failing
		}
	}
	return n
}

func replicaSetNode(set *appsv1.ReplicaSet, children owned) *node {
	n := replicasNode("ReplicaSet/", set, set.Status.ReadyReplicas, ptr.Deref(set.Spec.Replicas, 1))
	n.nodes = children.under(set)
	if revision := set.Annotations["deployment.kubernetes.io/revision"]; revision != "" && n.status == "" {
		n.status = "revision " + revision
	}
	for i := range set.Status.Conditions {
		condition := &set.Status.Conditions[i]
		if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue {
			n.status, n.message, n.health = condition.Reason, cliutil.OneLine(condition.Message), failing
		}
	}
	return n
}

// objectsOf returns the objects of trees, each before those below it.
func objectsOf(nodes []*node) []runtime.Object {
	var objects []runtime.Object
	for _, n := range nodes {
		if object, ok := n.object.(runtime.Object); ok {
			objects = append(objects, object)
		}
		objects = append(objects, objectsOf(n.nodes)...)
	}
	return objects
}
