// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// KeepReferences sets the hashes of the references in the pod template to the hashes of the old box. The controller would otherwise
// restart the pods twice for one change.
func KeepReferences(box, old *model.ModelBox) {
	recorded := recordedReferences(old)
	if !restartsOnReferences(box) || recorded == "" {
		return
	}
	template := &corev1.PodTemplateSpec{}
	if box.Spec.PodTemplate != nil {
		template = box.Spec.PodTemplate.DeepCopy()
	}
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, modelv1.ReferencesAnnotation, recorded)
	box.Spec.PodTemplate = template
}

// keepOmittedReferences is KeepReferences for an update that omits the hashes, such as "kubectl replace" of a file.
func keepOmittedReferences(box, old *model.ModelBox) {
	if recordedReferences(box) == "" {
		KeepReferences(box, old)
	}
}

// recordsReferences returns whether the update only records the hashes of references that the old box does not have.
func recordsReferences(box, old *model.ModelBox) bool {
	recorded := modelboxrender.ReadReferences(recordedReferences(box)).Of
	if recorded == "" || recorded == modelboxrender.ReadReferences(recordedReferences(old)).Of {
		return false
	}
	unrecorded := &model.ModelBox{Spec: old.Spec}
	KeepReferences(unrecorded, box)
	return !changesPods(&box.Spec, &unrecorded.Spec)
}

func restartsOnReferences(box *model.ModelBox) bool {
	return box.Spec.RestartOn != nil && *box.Spec.RestartOn == model.RestartOnReferences
}

func recordedReferences(box *model.ModelBox) string {
	if box.Spec.PodTemplate == nil {
		return ""
	}
	return box.Spec.PodTemplate.Annotations[modelv1.ReferencesAnnotation]
}

// referenceWarnings names Secrets whose changes do not restart the pods, because the server does not watch Secrets, and says that the
// pods restart if the update turns on restarts. old is nil for a new box.
func (s Strategy) referenceWarnings(box, old *model.ModelBox) []string {
	if !restartsOnReferences(box) {
		return nil
	}
	path, warnings := field.NewPath("spec", "restartOn"), []string(nil)
	if old != nil && !restartsOnReferences(old) && old.Status.Replicas > 0 && recordedReferences(box) == "" {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path, warn.RestartsOnce))
	}
	if s.validator.WatchesSecrets {
		return warnings
	}
	if secrets := secretsOf(box); len(secrets) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path, warn.SecretsNotWatched(strings.Join(secrets, ", "))))
	}
	return warnings
}

// secretsOf returns the names of the Secrets that the pods refer to.
func secretsOf(box *model.ModelBox) []string {
	served, err := boxview.V1(box)
	if err != nil {
		return nil
	}
	references, err := modelboxrender.References(served)
	if err != nil {
		return nil
	}
	var names []string
	for i := range references {
		if references[i].Kind == modelboxrender.SecretKind {
			names = append(names, references[i].Name)
		}
	}
	return names
}
