// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

func TestLimits(t *testing.T) {
	for _, row := range []struct {
		name   string
		mutate func(*model.ModelBox)
		want   []string
	}{
		{"a box", func(*model.ModelBox) {}, nil},
		{"as many variables as there may be", manyEnvs(1024), nil},
		{"more variables", manyEnvs(1025), []string{"Too many: spec.envs"}},
		{"as many containers as there may be", manyContainers(100), nil},
		{"more containers", manyContainers(101), []string{"Too many: spec.containers"}},
		{"an image that is too long", func(box *model.ModelBox) { box.Spec.Image = strings.Repeat("x", 1025) }, []string{"Too long: spec.image"}},
		{"more labels of the box than there may be", func(box *model.ModelBox) { box.Labels = names(257) }, []string{"Too many: metadata.labels"}},
		{"more finalizers than there may be", func(box *model.ModelBox) { box.Finalizers = make([]string, 257) }, []string{"Too many: metadata.finalizers"}},
		{"more annotations of the Service than there may be", func(box *model.ModelBox) {
			box.Spec.Service = &model.ModelBoxService{Annotations: names(1025)}
		}, []string{"Too many: spec.service.annotations"}},
		{"more IP families than there may be", func(box *model.ModelBox) {
			box.Spec.Service = &model.ModelBoxService{IPFamilies: make([]corev1.IPFamily, 257)}
		}, []string{"Too many: spec.service.ipFamilies"}},
		{"more mounts of a container than there may be", container(func(c *corev1.Container) {
			c.VolumeMounts = make([]corev1.VolumeMount, 257)
		}), []string{"Too many: spec.containers[0].volumeMounts"}},
		{"more resources of a container than there may be", container(func(c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{}
			for name := range names(65) {
				c.Resources.Limits[corev1.ResourceName(name)] = resource.MustParse("1")
			}
		}), []string{"Too many: spec.containers[0].resources.limits"}},
		{"more tolerations in the overlay than there may be", func(box *model.ModelBox) {
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: make([]corev1.Toleration, 257)}}
		},
			[]string{"Too many: spec.podTemplate.spec.tolerations"}},
		{"more attributes of a volume than there may be", volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{VolumeAttributes: names(257)}}),
			[]string{"Too many: spec.volumes[0].csi.volumeAttributes"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := validBox()
			row.mutate(box)
			if diff := cmp.Diff(row.want, typesAndFields(ValidateLimits(box))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLimitsOfABoxThatWasLargerAlready(t *testing.T) {
	for _, row := range []struct {
		name     string
		old, new func(*model.ModelBox)
		want     []string
	}{
		{"it stays as large", manyEnvs(2000), manyEnvs(2000), nil},
		{"it shrinks", manyEnvs(2000), manyEnvs(1999), nil},
		{"it grows", manyEnvs(2000), manyEnvs(2001), []string{"Too many: spec.envs"}},
		{"another list grows", manyEnvs(2000), all(manyEnvs(2000), manyContainers(101)), []string{"Too many: spec.containers"}},
		{"the container with the list moves", container(func(c *corev1.Container) { c.Env = make([]corev1.EnvVar, 2000) }), all(manyContainers(1), container(func(c *corev1.Container) {
			c.Env = make([]corev1.EnvVar, 2000)
		})), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box, old := validBox(), validBox()
			row.new(box)
			row.old(old)
			if diff := cmp.Diff(row.want, typesAndFields(ValidateLimitsUpdate(box, old))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A limit of a field that is not there would be none.
func TestMaximaAreThoseOfFields(t *testing.T) {
	fields := map[string]bool{}
	for _, known := range fieldsByType {
		for _, f := range known {
			fields[f.key] = true
		}
	}
	for key := range maxima {
		if !fields[key] {
			t.Errorf("a box has no field %s", key)
		}
	}
	for _, want := range []string{"PodSpec.tolerations", "Container.ports", "FlexVolumeSource.options", "LabelSelector.matchLabels"} {
		if !fields[want] {
			t.Errorf("%s is not looked at", want)
		}
	}
}

func TestDirectivesOfTheOverlay(t *testing.T) {
	for _, row := range []struct {
		name     string
		template corev1.PodTemplateSpec
		want     []string
	}{
		{"none", corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}}, nil},
		{"in labels", corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"$patch": "replace"}}},
			[]string{"Forbidden: spec.podTemplate.metadata.labels[$patch]"}},
		{"in annotations", corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"$retainKeys": "[a]"}}},
			[]string{"Forbidden: spec.podTemplate.metadata.annotations[$retainKeys]"}},
		{"in a node selector", corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"$patch": "delete"}}},
			[]string{"Forbidden: spec.podTemplate.spec.nodeSelector[$patch]"}},
		{"in limits", corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{"$patch": resource.MustParse("1")},
		}}}}}, []string{"Forbidden: spec.podTemplate.spec.containers[0].resources.limits[$patch]"}},
		{"in attributes of a volume", corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			CSI: &corev1.CSIVolumeSource{VolumeAttributes: map[string]string{"$setElementOrder/a": "", "$deleteFromPrimitiveList/a": ""}},
		}}}}}, []string{
			"Forbidden: spec.podTemplate.spec.volumes[0].csi.volumeAttributes[$deleteFromPrimitiveList/a]",
			"Forbidden: spec.podTemplate.spec.volumes[0].csi.volumeAttributes[$setElementOrder/a]",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := validBox()
			box.Spec.PodTemplate = &row.template
			if diff := cmp.Diff(row.want, typesAndFields(ValidateNoDirectives(box, field.NewPath("spec")))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestToldErrors(t *testing.T) {
	long := strings.Repeat("\x01", 1<<20)
	var many field.ErrorList
	for i := range 1000 {
		many = append(many, field.Invalid(field.NewPath("spec", "envs").Index(i).Key(long), long, long))
	}
	told := TruncateErrors(many)
	if len(told) > validate.MaxErrors+1 || told[len(told)-1].Field != "spec" {
		t.Errorf("%d errors are reported, the last one is %v", len(told), told[len(told)-1])
	}
	few := field.ErrorList{field.Invalid(field.NewPath("spec"), "a", "b"), field.Forbidden(field.NewPath("spec"), "c")}
	if diff := cmp.Diff(few, TruncateErrors(few)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	short := TruncateErrors(many[:1])[0]
	if text := short.Error(); len(text) > 2000 || !strings.Contains(text, `..."`) || !strings.HasSuffix(text, "...") {
		t.Errorf("a long error is reported as %d bytes: %.200q", len(text), text)
	}
}

func manyEnvs(count int) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Envs = make([]corev1.EnvVar, count) }
}

// manyContainers adds so many containers.
func manyContainers(count int) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Containers = append(box.Spec.Containers, make([]corev1.Container, count)...)
	}
}

func names(count int) map[string]string {
	names := map[string]string{}
	for i := range count {
		names[fmt.Sprintf("example.com/name-%d", i)] = ""
	}
	return names
}
