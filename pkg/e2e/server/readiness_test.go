// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// maxStatusLag is how long a status may be behind the pods: on a busy machine everything takes its time.
const maxStatusLag = 10 * time.Second

// readinessReader looks for boxes that say Ready while a pod of theirs does not run what they say, as the pod's own
// spec tells. A status is always a moment behind; one that does not move meanwhile is wrong.
type readinessReader struct {
	*framework.Namespace
	readings int
	suspects map[suspect]time.Time
	lies     map[suspect]string
}

// suspect is a pod that does not run what its box said at that version.
type suspect struct {
	pod     types.UID
	version string
}

func newReadinessReader(n *framework.Namespace) *readinessReader {
	return &readinessReader{Namespace: n, suspects: map[suspect]time.Time{}, lies: map[suspect]string{}}
}

// read reads all boxes and pods again and again until ctx is done. What cannot be read because a server is away is not, and no
// status can have moved meanwhile.
func (r *readinessReader) read(ctx context.Context) {
	for ctx.Err() == nil {
		if pods, boxes, err := r.list(ctx); err == nil {
			r.compare(boxes, pods)
		} else {
			clear(r.suspects)
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (r *readinessReader) list(ctx context.Context) ([]corev1.Pod, []modelv1.ModelBox, error) {
	pods, err := r.Pods.List(ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel})
	if err != nil {
		return nil, nil, err
	}
	boxes, err := r.Boxes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	return pods.Items, boxes.Items, nil
}

func (r *readinessReader) compare(boxes []modelv1.ModelBox, pods []corev1.Pod) {
	ready := map[string]*modelv1.ModelBox{}
	for i := range boxes {
		condition := meta.FindStatusCondition(boxes[i].Status.Conditions, modelv1.ConditionReady)
		if condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == boxes[i].Generation {
			ready[boxes[i].Name] = &boxes[i]
			r.readings++
		}
	}
	for i := range pods {
		box := ready[pods[i].Labels[modelv1.SelectorLabel]]
		if box == nil || pods[i].DeletionTimestamp != nil {
			continue
		}
		difference := runsSomethingElse(box, &pods[i])
		key := suspect{pods[i].UID, box.ResourceVersion}
		switch since, isSuspect := r.suspects[key]; {
		case difference == "":
		case !isSuspect:
			r.suspects[key] = time.Now()
		case time.Since(since) > maxStatusLag:
			r.lies[key] = fmt.Sprintf("box %s says Ready, and for %s its pod %s %s", box.Name, maxStatusLag, pods[i].Name, difference)
		}
	}
}

// runsSomethingElse says what the pod runs that the box does not say, nothing where it runs what the box says.
func runsSomethingElse(box *modelv1.ModelBox, pod *corev1.Pod) string {
	main := &pod.Spec.Containers[0]
	switch {
	case len(pod.Spec.Containers) != 1 || main.Name != box.Spec.Name:
		return fmt.Sprintf("has the containers %v", framework.ContainerNames(pod.Spec.Containers))
	case main.Image != box.Spec.Image:
		return "runs " + main.Image
	}
	// Of several with a name the last one counts, as it does in the process. Others may be there as well.
	values := map[string]string{}
	for _, variable := range main.Env {
		values[variable.Name] = variable.Value
	}
	for _, variable := range box.Spec.Envs {
		if values[variable.Name] != variable.Value {
			return fmt.Sprintf("has %s=%s, not %s", variable.Name, values[variable.Name], variable.Value)
		}
	}
	return ""
}

// expectTruth fails the test for every box that was not what it said.
func (r *readinessReader) expectTruth() {
	r.T.Helper()
	r.T.Logf("%d readings of Ready", r.readings)
	for _, lie := range r.lies {
		r.T.Error(lie)
	}
}
