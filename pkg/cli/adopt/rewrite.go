// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package adopt changes the pod template of a Deployment without replacing its pods, as the Deployment controller itself once did
// to add labels. It pauses the Deployment, adds the labels to its ReplicaSet and its pods, writes the same template to the
// Deployment and to the ReplicaSet, and resumes the Deployment. The controller of the Deployment then has nothing to roll out.
package adopt

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// revisionAnnotation is what the Deployment controller numbers ReplicaSets by.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// Rewriter changes Deployments, their ReplicaSets and their pods in place.
type Rewriter struct {
	Client kubernetes.Interface
	// FieldManager is who writes.
	FieldManager string
	// Timeout is how long each step waits for the controllers of the cluster.
	Timeout time.Duration
}

func (r *Rewriter) await(ctx context.Context, what string, check func(context.Context) (done bool, obstacle string, err error)) error {
	return Await(ctx, r.Timeout, what, check)
}

// Patch is a merge patch of exactly the object with the UID.
func Patch(uid types.UID, fields map[string]any) ([]byte, error) {
	metadata, _ := fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		fields["metadata"] = metadata
	}
	metadata["uid"] = uid
	return json.Marshal(fields)
}

// SetPaused pauses or resumes a Deployment, and returns when its controller has observed this.
func (r *Rewriter) SetPaused(ctx context.Context, deployment *appsv1.Deployment, paused bool) error {
	if deployment.Spec.Paused != paused {
		data, err := Patch(deployment.UID, map[string]any{"spec": map[string]any{"paused": paused}})
		if err != nil {
			return err
		}
		client := r.Client.AppsV1().Deployments(deployment.Namespace)
		if _, err := client.Patch(ctx, deployment.Name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: r.FieldManager}); err != nil {
			return fmt.Errorf("pausing Deployment %s: %w", deployment.Name, err)
		}
	}
	_, err := r.awaitDeployment(ctx, deployment, func(d *appsv1.Deployment) (bool, string) {
		return d.Status.ObservedGeneration >= d.Generation, "the Deployment controller has not observed the change"
	})
	return err
}

// awaitDeployment returns the Deployment as soon as it is as expected.
func (r *Rewriter) awaitDeployment(ctx context.Context, deployment *appsv1.Deployment, check func(*appsv1.Deployment) (bool, string)) (live *appsv1.Deployment, err error) {
	what := fmt.Sprintf("Deployment %s/%s", deployment.Namespace, deployment.Name)
	err = r.await(ctx, what, func(ctx context.Context) (done bool, obstacle string, err error) {
		live, err = r.Client.AppsV1().Deployments(deployment.Namespace).Get(ctx, deployment.Name, metav1.GetOptions{})
		if err != nil {
			return false, "", err
		}
		if live.UID != deployment.UID {
			return false, "", fmt.Errorf("the UID is %s, not %s: it was deleted and created again", live.UID, deployment.UID)
		}
		done, obstacle = check(live)
		return done, obstacle, nil
	})
	return live, err
}

// ReplicaSetsOf returns the ReplicaSets of a Deployment.
func (r *Rewriter) ReplicaSetsOf(ctx context.Context, deployment *appsv1.Deployment) ([]*appsv1.ReplicaSet, error) {
	list, err := r.Client.AppsV1().ReplicaSets(deployment.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: metav1.FormatLabelSelector(deployment.Spec.Selector),
	})
	if err != nil {
		return nil, fmt.Errorf("listing the ReplicaSets of Deployment %s: %w", deployment.Name, err)
	}
	var owned []*appsv1.ReplicaSet
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], deployment) {
			owned = append(owned, &list.Items[i])
		}
	}
	return owned, nil
}

// CurrentReplicaSet returns the ReplicaSet whose pods run one of the templates, nil where there is none.
func (r *Rewriter) CurrentReplicaSet(ctx context.Context, deployment *appsv1.Deployment, templates ...*corev1.PodTemplateSpec) (*appsv1.ReplicaSet, error) {
	owned, err := r.ReplicaSetsOf(ctx, deployment)
	if err != nil {
		return nil, err
	}
	for _, template := range templates {
		i := slices.IndexFunc(owned, func(set *appsv1.ReplicaSet) bool { return IsSameTemplate(&set.Spec.Template, template) })
		if i >= 0 {
			return owned[i], nil
		}
	}
	return nil, nil
}

// NewestReplicaSet returns the ReplicaSet of the latest revision of a Deployment, nil where there is none.
func (r *Rewriter) NewestReplicaSet(ctx context.Context, deployment *appsv1.Deployment) (*appsv1.ReplicaSet, error) {
	owned, err := r.ReplicaSetsOf(ctx, deployment)
	if err != nil {
		return nil, err
	}
	var newest *appsv1.ReplicaSet
	var latest int64
	for _, set := range owned {
		revision, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
		if err == nil && revision > latest {
			newest, latest = set, revision
		}
	}
	return newest, nil
}

// SetTemplate gives a ReplicaSet the template, but for the label of its own, and returns when its controller knows: pods that
// it starts then are of that.
func (r *Rewriter) SetTemplate(ctx context.Context, set *appsv1.ReplicaSet, template *corev1.PodTemplateSpec) error {
	hash := set.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	set = set.DeepCopy()
	template.DeepCopyInto(&set.Spec.Template)
	set.Spec.Template.Labels = Merged(template.Labels, map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash})
	set.Labels = Merged(set.Labels, set.Spec.Template.Labels)
	client := r.Client.AppsV1().ReplicaSets(set.Namespace)
	if _, err := client.Update(ctx, set, metav1.UpdateOptions{FieldManager: r.FieldManager}); err != nil {
		return fmt.Errorf("updating the pod template of ReplicaSet %s: %w", set.Name, err)
	}
	return r.await(ctx, fmt.Sprintf("ReplicaSet %s/%s", set.Namespace, set.Name), func(ctx context.Context) (bool, string, error) {
		live, err := client.Get(ctx, set.Name, metav1.GetOptions{})
		if err != nil {
			return false, "", err
		}
		return live.Status.ObservedGeneration >= live.Generation, "the ReplicaSet controller has not observed the pod template", nil
	})
}

// LabelPods sets labels and annotations of the pods of a ReplicaSet as they run. A value of nil removes one.
func (r *Rewriter) LabelPods(ctx context.Context, set *appsv1.ReplicaSet, labels, annotations map[string]any) error {
	client := r.Client.CoreV1().Pods(set.Namespace)
	pods, err := client.List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(set.Spec.Selector)})
	if err != nil {
		return fmt.Errorf("listing the pods of ReplicaSet %s: %w", set.Name, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !metav1.IsControlledBy(pod, set) || isLabelled(pod.Labels, labels) && isLabelled(pod.Annotations, annotations) {
			continue
		}
		data, err := Patch(pod.UID, map[string]any{"metadata": map[string]any{"labels": labels, "annotations": annotations}})
		if err != nil {
			return err
		}
		if _, err := client.Patch(ctx, pod.Name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: r.FieldManager}); err != nil {
			return fmt.Errorf("labelling pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// isLabelled returns whether a patch of labels or annotations would change nothing.
func isLabelled(labels map[string]string, patch map[string]any) bool {
	for key, value := range patch {
		is, isSet := labels[key]
		if isSet != (value != nil) || isSet && is != value {
			return false
		}
	}
	return true
}

// Resume resumes a paused Deployment when its controller takes the ReplicaSet for the ReplicaSet of its template. Otherwise, the
// controller would create another ReplicaSet.
func (r *Rewriter) Resume(ctx context.Context, deployment *appsv1.Deployment) error {
	deployment, err := r.awaitDeployment(ctx, deployment, func(d *appsv1.Deployment) (bool, string) {
		return IsRolledOut(d), "the Deployment controller has not observed the pod template of the ReplicaSet"
	})
	if err != nil {
		return err
	}
	return r.SetPaused(ctx, deployment, false)
}

// IsRolledOut returns whether all pods of a Deployment run its template.
func IsRolledOut(d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedReplicas == d.Status.Replicas
}

// Merged returns the map with what the other one has. It is never nil.
func Merged(base, over map[string]string) map[string]string {
	result := maps.Clone(base)
	if result == nil {
		result = map[string]string{}
	}
	maps.Copy(result, over)
	return result
}
