// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// atomicBox asks for something in each of the structs, lists and maps that server-side apply takes as a whole.
func atomicBox(t *testing.T) *modelv1.ModelBox {
	return fixture.WebBox(t, func(box *modelv1.ModelBox) {
		spec := &box.Spec
		spec.Command = []string{"sh", "-c"}
		spec.Envs = []corev1.EnvVar{
			{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			{Name: "CPUS", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
		}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "settings", VolumeSource: corev1.VolumeSource{
			Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{
					LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
					Items:                []corev1.KeyToPath{{Key: "a", Path: "a"}, {Key: "b", Path: "b"}},
				}},
			}},
		}})
		spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"disk": "ssd"},
			Tolerations:  []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{},
			}},
		}}
	})
}

func TestCompareOfAtomicValues(t *testing.T) {
	podSpecOf := func(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }
	projected := func(d *appsv1.Deployment) *corev1.ProjectedVolumeSource { return podSpecOf(d).Volumes[1].Projected }
	const sources = fixture.PodSpec + `.volumes[name="settings"].projected.sources`

	compare := fixture.NewComparer()
	for _, row := range []struct {
		name   string
		change func(*appsv1.Deployment)
		want   []string
	}{
		{"nothing was changed", func(*appsv1.Deployment) {}, nil},
		{"the API completes a struct", func(d *appsv1.Deployment) { fixture.MainContainer(d).Env[0].ValueFrom.FieldRef.APIVersion = "v1" }, nil},
		{"the API completes a struct in a list", func(d *appsv1.Deployment) {
			projected(d).Sources[0].ServiceAccountToken.ExpirationSeconds = ptr.To[int64](3600)
			projected(d).DefaultMode = ptr.To[int32](420)
		}, nil},
		{"a field of a struct", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env[0].ValueFrom.FieldRef.FieldPath = "status.hostIP"
		},
			[]string{fixture.MainContainerPath + `.env[name="POD_IP"].valueFrom.fieldRef`}},
		{"a quantity of a struct", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env[1].ValueFrom.ResourceFieldRef.Divisor = resource.MustParse("1m")
		},
			[]string{fixture.MainContainerPath + `.env[name="CPUS"].valueFrom.resourceFieldRef`}},
		{"an element of a list", func(d *appsv1.Deployment) { fixture.MainContainer(d).Command[1] = "-x" }, []string{fixture.MainContainerPath + ".command"}},
		{"the order of a list", func(d *appsv1.Deployment) { fixture.MainContainer(d).Command = []string{"-c", "sh"} }, []string{fixture.MainContainerPath + ".command"}},
		{"an element more", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Command = append(fixture.MainContainer(d).Command, "true")
		}, []string{fixture.MainContainerPath + ".command"}},
		{"an element less", func(d *appsv1.Deployment) { fixture.MainContainer(d).Command = fixture.MainContainer(d).Command[:1] }, []string{fixture.MainContainerPath + ".command"}},
		{"no element", func(d *appsv1.Deployment) { fixture.MainContainer(d).Command = nil }, []string{fixture.MainContainerPath + ".command"}},
		{"an element of a list in an element of a list", func(d *appsv1.Deployment) { projected(d).Sources[1].ConfigMap.Items[1].Path = "c" },
			[]string{sources}},
		{"a toleration less", func(d *appsv1.Deployment) { podSpecOf(d).Tolerations = nil }, []string{fixture.PodSpec + ".tolerations"}},
		{"a toleration more", func(d *appsv1.Deployment) {
			podSpecOf(d).Tolerations = append(podSpecOf(d).Tolerations, corev1.Toleration{Key: "arm"})
		}, []string{fixture.PodSpec + ".tolerations"}},
		{"a name of a map", func(d *appsv1.Deployment) { podSpecOf(d).NodeSelector["zone"] = "a" }, []string{fixture.PodSpec + ".nodeSelector"}},
		{"a value of a map", func(d *appsv1.Deployment) { podSpecOf(d).NodeSelector["disk"] = "hdd" }, []string{fixture.PodSpec + ".nodeSelector"}},
		{"no struct, where an empty one was wanted", func(d *appsv1.Deployment) { podSpecOf(d).TopologySpreadConstraints[0].LabelSelector = nil },
			[]string{fixture.PodSpec + `.topologySpreadConstraints[topologyKey="topology.kubernetes.io/zone",whenUnsatisfiable="DoNotSchedule"].labelSelector`}},
		{"no map", func(d *appsv1.Deployment) { podSpecOf(d).NodeSelector = nil }, []string{fixture.PodSpec + ".nodeSelector"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := atomicBox(t)
			live := fixture.BareDeployment(t, box)
			row.change(live)
			checkDifferences(t, row.want, func() (*fields.Difference, error) {
				return compare.Compare(fixture.Rendered(t, box, "Deployment"), live)
			})
		})
	}
}

// Compare reports a zero that a user has taken away, if a zero and no value mean different things. It does not report a zero that
// the API leaves out.
func TestCompareOfZeros(t *testing.T) {
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) {
		box.Spec.MinReadySeconds = ptr.To[int32](0)
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			AutomountServiceAccountToken: ptr.To(false),
			Containers:                   []corev1.Container{{Name: "app", SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false)}}},
		}}
	})
	rendered, compare := fixture.Rendered(t, box, "Deployment"), fixture.NewComparer()
	for _, row := range []struct {
		name   string
		change func(*appsv1.Deployment)
		want   []string
	}{
		{"a zero that the API leaves out is no difference", func(*appsv1.Deployment) {}, nil},
		{"a zero that became a number", func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 10 }, []string{".spec.minReadySeconds"}},
		{"a false that went", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.AutomountServiceAccountToken = nil
			fixture.MainContainer(d).SecurityContext.AllowPrivilegeEscalation = nil
		}, []string{fixture.PodSpec + ".automountServiceAccountToken", fixture.MainContainerPath + ".securityContext.allowPrivilegeEscalation"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := fixture.BareDeployment(t, box)
			row.change(live)
			checkDifferences(t, row.want, func() (*fields.Difference, error) { return compare.Compare(rendered, live) })
		})
	}
}
