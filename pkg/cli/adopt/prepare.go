// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prepare pauses a Deployment that another controller is about to take over, and gives its ReplicaSet and its pods the labels and
// annotations of the template that it will get. Services that select these labels then find the pods. It may be repeated.
func (r *Rewriter) Prepare(ctx context.Context, deployment *appsv1.Deployment, wanted *corev1.PodTemplateSpec) error {
	if err := r.SetPaused(ctx, deployment, true); err != nil {
		return err
	}
	template := WithMetadata(&deployment.Spec.Template, wanted)
	set, err := r.CurrentReplicaSet(ctx, deployment, &deployment.Spec.Template, template)
	if err != nil {
		return err
	}
	if set == nil {
		return fmt.Errorf("no ReplicaSet of Deployment %s/%s matches its pod template", deployment.Namespace, deployment.Name)
	}
	if !IsSameTemplate(&set.Spec.Template, template) {
		if err := r.SetTemplate(ctx, set, template); err != nil {
			return err
		}
	}
	return r.LabelPods(ctx, set, anyMap(wanted.Labels), anyMap(wanted.Annotations))
}

// Restore takes back what Prepare has done to the Deployment and its ReplicaSet; the pods keep the labels. Before and wanted are those
// of Prepare.
func (r *Rewriter) Restore(ctx context.Context, before *appsv1.Deployment, wanted *corev1.PodTemplateSpec) error {
	set, err := r.CurrentReplicaSet(ctx, before, WithMetadata(&before.Spec.Template, wanted))
	if err != nil {
		return err
	}
	if set != nil {
		if err := r.SetTemplate(ctx, set, &before.Spec.Template); err != nil {
			return err
		}
	}
	return r.Resume(ctx, before)
}

// IsPrepared returns whether a Deployment is as Prepare leaves it.
func (r *Rewriter) IsPrepared(ctx context.Context, deployment *appsv1.Deployment, wanted *corev1.PodTemplateSpec) (bool, error) {
	if !deployment.Spec.Paused {
		return false, nil
	}
	template := WithMetadata(&deployment.Spec.Template, wanted)
	set, err := r.CurrentReplicaSet(ctx, deployment, template)
	return set != nil && !IsSameTemplate(template, &deployment.Spec.Template), err
}

// WithMetadata returns the template with the labels and annotations of the other one besides.
func WithMetadata(template, other *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	template = template.DeepCopy()
	template.Labels = Merged(template.Labels, other.Labels)
	if len(other.Annotations) > 0 {
		template.Annotations = Merged(template.Annotations, other.Annotations)
	}
	return template
}

func anyMap(values map[string]string) map[string]any {
	converted := make(map[string]any, len(values))
	for key, value := range values {
		converted[key] = value
	}
	return converted
}

// DisruptionError says that pods would have to be replaced to be what their Deployment says now.
type DisruptionError struct {
	// Deployment is the name of the Deployment, which stays paused.
	Deployment string
	// Fields are the paths in which its template has changed.
	Fields []string
}

// Error says what has changed.
func (e *DisruptionError) Error() string {
	return fmt.Sprintf("the Deployment %s stays paused: %v changed, which would replace its pods", e.Deployment, e.Fields)
}

// Settle lets a Deployment that was taken over after Prepare continue with the pods that it has. Before is the Deployment as it
// was. If the pods must be replaced, Settle returns a DisruptionError, unless disruption is allowed: then the Deployment replaces
// them.
func (r *Rewriter) Settle(ctx context.Context, before *appsv1.Deployment, allowDisruption bool) error {
	live, err := r.Client.AppsV1().Deployments(before.Namespace).Get(ctx, before.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if live.UID != before.UID {
		return fmt.Errorf("the Deployment %s was deleted and created again", live.Name)
	}
	if !live.Spec.Paused {
		return nil
	}
	change, err := CompareTemplates(&before.Spec.Template, &live.Spec.Template)
	if err != nil {
		return err
	}
	if len(change.Disruptive) > 0 {
		if !allowDisruption {
			return &DisruptionError{Deployment: live.Name, Fields: change.Disruptive}
		}
		return r.SetPaused(ctx, live, before.Spec.Paused)
	}
	set, err := r.CurrentReplicaSet(ctx, live, &live.Spec.Template, WithMetadata(&before.Spec.Template, &live.Spec.Template), &before.Spec.Template)
	if err != nil {
		return err
	}
	if set == nil {
		return fmt.Errorf("no ReplicaSet of Deployment %s matches its pod template", live.Name)
	}
	if !IsSameTemplate(&set.Spec.Template, &live.Spec.Template) {
		if err := r.SetTemplate(ctx, set, &live.Spec.Template); err != nil {
			return err
		}
	}
	if before.Spec.Paused {
		return nil // and stays so
	}
	return r.Resume(ctx, live)
}
