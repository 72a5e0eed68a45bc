// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// Compare finds the fields that are in the way of a restore together with the fields that differ. There are none if no field
// differs.
func TestCompareFindsConflictingFieldsOfADeployment(t *testing.T) {
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) {
		box.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
		box.Spec.Envs = append(box.Spec.Envs, corev1.EnvVar{Name: "NODE", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"},
		}})
	})
	rendered, compare := fixture.Rendered(t, box, "Deployment"), fixture.NewComparer()
	httpGet := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}}
	for _, row := range []struct {
		name        string
		change      func(*appsv1.Deployment)
		conflicting []string
		renamed     []string
	}{
		{"nothing was changed", func(*appsv1.Deployment) {}, nil, nil},
		{"an image", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" }, nil, nil},
		{"a probe of another kind", func(d *appsv1.Deployment) { fixture.MainContainer(d).ReadinessProbe.ProbeHandler = httpGet },
			[]string{fixture.MainContainerPath + ".readinessProbe.httpGet"}, nil},
		{"a grace period of a probe alone", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).LivenessProbe.TerminationGracePeriodSeconds = new(int64)
		}, nil, nil},
		{"a hook of another kind", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}
		}, []string{fixture.MainContainerPath + ".lifecycle.preStop.exec"}, nil},
		{"a volume of another kind", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		}, []string{fixture.PodSpec + `.volumes[name="cache"].hostPath`}, nil},
		{"a variable that comes from elsewhere", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env[0] = corev1.EnvVar{Name: "FIRST", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
		}, []string{fixture.MainContainerPath + `.env[name="FIRST"].valueFrom`}, nil},
		{"a variable that came from elsewhere", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env[2] = corev1.EnvVar{Name: "NODE", Value: "evil"}
		}, []string{fixture.MainContainerPath + `.env[name="NODE"].value`}, nil},
		{"a variable that comes from another place", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env[2].ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "a"}}
		}, []string{fixture.MainContainerPath + `.env[name="NODE"].valueFrom.secretKeyRef`}, nil},
		{"a variable under another name", func(d *appsv1.Deployment) { fixture.MainContainer(d).Env[0].Name = "OTHER" },
			nil, []string{fixture.MainContainerPath + `.env[name="OTHER"]`}},
		{"a variable less, and a foreign one", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env[0] = corev1.EnvVar{Name: "OTHER", Value: "other"}
		}, nil, nil},
		{"a container port of another protocol", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Ports[1].Name, fixture.MainContainer(d).Ports[1].Protocol = "", corev1.ProtocolSCTP
		},
			nil, nil},
		{"a pull secret under another name", func(d *appsv1.Deployment) { d.Spec.Template.Spec.ImagePullSecrets[0].Name = "other" },
			nil, []string{fixture.PodSpec + `.imagePullSecrets[name="other"]`}},
		{"a container under another name and with another image", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Image = "nginx:2"
			fixture.MainContainer(d).Name = "other"
		},
			nil, []string{fixture.PodSpec + `.containers[name="other"]`}},
		{"the controller under another identity", func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "another" },
			[]string{`.metadata.ownerReferences[uid="another"]`}, nil},
		{"a container under another name", func(d *appsv1.Deployment) { fixture.MainContainer(d).Name = "other" }, nil, []string{fixture.PodSpec + `.containers[name="other"]`}},
		{"another number of a container port of the name", func(d *appsv1.Deployment) { fixture.MainContainer(d).Ports[1].ContainerPort = 81 },
			[]string{fixture.MainContainerPath + `.ports[containerPort=81,protocol="TCP"]`}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := fixture.BareDeployment(t, box)
			row.change(live)
			found, err := compare.Compare(rendered, live)
			if err != nil {
				t.Fatal(err)
			}
			fixture.Check(t, "conflicting", row.conflicting, fixture.Paths(found.Conflicting))
			fixture.Check(t, "renamed", row.renamed, fixture.Paths(found.Renamed))
		})
	}
}

func TestCompareFindsConflictingPortsOfAService(t *testing.T) {
	port := func(number int32) corev1.ServicePort {
		return corev1.ServicePort{Port: number, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(number)}
	}
	for _, row := range []struct {
		name  string
		ports []corev1.ServicePort
		live  []corev1.ServicePort
		want  []string
	}{
		{"the only port under another number", []corev1.ServicePort{port(80)}, []corev1.ServicePort{port(8080)},
			[]string{`.spec.ports[port=8080,protocol="TCP"]`}},
		{"a foreign port with a name beside the only one", []corev1.ServicePort{port(80)}, []corev1.ServicePort{port(80), {Name: "debug", Port: 81, Protocol: corev1.ProtocolTCP}}, nil},
		{"one of two ports under another number",
			[]corev1.ServicePort{{Name: "a", Port: 80, Protocol: corev1.ProtocolTCP}, {Name: "b", Port: 81, Protocol: corev1.ProtocolTCP}},
			[]corev1.ServicePort{{Name: "a", Port: 80, Protocol: corev1.ProtocolTCP}, {Name: "b", Port: 8081, Protocol: corev1.ProtocolTCP}},
			[]string{`.spec.ports[port=8081,protocol="TCP"]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Ports = row.ports })
			live := fixture.LiveService(t, func(s *corev1.Service) { s.Spec.Ports = row.live })
			found, err := fixture.NewComparer().Compare(fixture.Rendered(t, box, "Service"), live)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Compact(slices.Concat(fixture.Paths(found.Conflicting), fixture.Paths(found.Renamed)))
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
