// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
)

// newFields are fields that not every supported version of Kubernetes has, each with a spec that sets it.
var newFields = []struct {
	field hostcluster.Field
	set   func(*modelv1.ModelBoxSpec)
	path  string
}{
	{hostcluster.Field{Type: "core/v1.Container", Name: "restartPolicyRules"}, func(spec *modelv1.ModelBoxSpec) {
		spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "new", Image: framework.Image, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyNever),
			RestartPolicyRules: []corev1.ContainerRestartRule{{
				Action:    corev1.ContainerRestartRuleActionRestart,
				ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
			}},
		}}}}
	}, "spec.podTemplate.spec.containers[0].restartPolicyRules"},
	{hostcluster.Field{Type: "core/v1.PodSpec", Name: "hostnameOverride"}, func(spec *modelv1.ModelBoxSpec) {
		spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostnameOverride: ptr.To("web")}}
	}, "spec.podTemplate.spec.hostnameOverride"},
	{hostcluster.Field{Type: "core/v1.EnvVarSource", Name: "fileKeyRef"}, func(spec *modelv1.ModelBoxSpec) {
		spec.Volumes = []corev1.Volume{{Name: "files", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		spec.Envs = []corev1.EnvVar{{Name: "KEY", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "files", Path: "env", Key: "KEY"}}}}
	}, "spec.envs[0].valueFrom.fileKeyRef"},
	{hostcluster.Field{Type: "core/v1.ConfigMapVolumeSource", Name: "defaultUser"}, func(spec *modelv1.ModelBoxSpec) {
		spec.Volumes = []corev1.Volume{{Name: "files", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "files"}, DefaultUser: ptr.To[int64](1000),
		}}}}
	}, "spec.volumes[0].configMap.defaultUser"},
}

func TestFieldsThatTheClusterDoesNotKnowAreRefusedByName(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	host := framework.SharedControlPlane().HostCluster(t)
	t.Logf("Kubernetes %s does not know %v", host.Version(), host.UnknownFields())
	for _, row := range newFields {
		t.Run(row.field.String(), func(t *testing.T) {
			n := n.In(t)
			_, err := n.Boxes.Create(n.Ctx, framework.NewBox("web", row.set), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !slices.Contains(host.UnknownFields(), row.field) {
				if err != nil {
					t.Errorf("the cluster has the field, and the box is refused: %v", err)
				}
				return
			}
			framework.ExpectInvalid(t, err, row.path)
			for _, words := range []string{host.Version()[1:], "does not know " + row.field.String(), "needs " + row.field.IntroducedIn() + " or later"} {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("the refusal does not say %q: %v", words, err)
				}
			}
		})
	}
}

// TestUnknownFieldsAreThoseOfLaterVersions compares the schema of the cluster with the table of versions.
func TestUnknownFieldsAreThoseOfLaterVersions(t *testing.T) {
	t.Parallel()
	host := framework.SharedControlPlane().HostCluster(t)
	minor := strings.Join(strings.SplitN(strings.TrimPrefix(host.Version(), "v"), ".", 3)[:2], ".")
	for _, unknown := range host.UnknownFields() {
		if unknown.IntroducedIn() <= minor {
			t.Errorf("Kubernetes %s does not know %s, which is there since %q", host.Version(), unknown, unknown.IntroducedIn())
		}
	}
	for _, row := range newFields {
		if row.field.IntroducedIn() > minor != slices.Contains(host.UnknownFields(), row.field) {
			t.Errorf("%s came with %s, and Kubernetes %s does not know %v", row.field, row.field.IntroducedIn(), host.Version(), host.UnknownFields())
		}
	}
}
