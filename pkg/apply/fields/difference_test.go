// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestCompareOfADeployment(t *testing.T) {
	rendered := fixture.Rendered(t, fixture.WebBox(t), "Deployment")
	compare := fixture.NewComparer()
	for _, row := range []struct {
		name   string
		change func(*appsv1.Deployment)
		want   []string
	}{
		{"defaults of the API, and what an injector adds, are no difference", func(*appsv1.Deployment) {}, nil},
		{"a status is no difference", func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 0 }, nil},
		{"an annotation is no difference", func(d *appsv1.Deployment) { d.Annotations["note"] = "x" }, nil},
		{"the annotation of kubectl rollout restart is no difference", func(d *appsv1.Deployment) {
			d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
		}, nil},
		{"a foreign label is no difference", func(d *appsv1.Deployment) { d.Labels["team"] = "shop" }, nil},
		{"a foreign container is no difference", func(d *appsv1.Deployment) {
			containers := &d.Spec.Template.Spec.Containers
			*containers = append([]corev1.Container{{Name: "sidecar", Image: "sidecar:1"}}, *containers...)
		}, nil},
		{"a foreign variable is no difference", func(d *appsv1.Deployment) {
			main := fixture.MainContainer(d)
			main.Env = append(main.Env, corev1.EnvVar{Name: "THIRD", Value: "3"})
		}, nil},
		{"a field that the box leaves out may have any value", func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = ptr.To[int32](0) }, nil},
		{"a finalizer is no difference", func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/keep"} }, nil},
		{"a second owner is no difference", func(d *appsv1.Deployment) {
			d.OwnerReferences = append(d.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "web", UID: "2"})
		}, nil},
		{"another spelling of a quantity is no difference", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1000m")
		}, nil},

		{"another order of variables", func(d *appsv1.Deployment) { slices.Reverse(fixture.MainContainer(d).Env) }, []string{fixture.MainContainerPath + ".env"}},
		{"a foreign variable among the box's own is no difference", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env = slices.Insert(fixture.MainContainer(d).Env, 1, corev1.EnvVar{Name: "THIRD", Value: "3"})
		}, nil},
		{"a variable that is there twice", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Env = append(fixture.MainContainer(d).Env, corev1.EnvVar{Name: "FIRST", Value: "evil"})
		}, []string{fixture.MainContainerPath + `.env[name="FIRST"]`}},
		{"a changed image", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" }, []string{fixture.MainContainerPath + ".image"}},
		{"a changed number", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](3) }, []string{".spec.replicas"}},
		{"a number changed to 0", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](0) }, []string{".spec.replicas"}},
		{"a share changed to a number", func(d *appsv1.Deployment) {
			d.Spec.Strategy.RollingUpdate.MaxSurge = ptr.To(intstr.FromInt32(1))
		}, []string{".spec.strategy.rollingUpdate.maxSurge"}},
		{"a changed label", func(d *appsv1.Deployment) { d.Labels[modelv1.SelectorLabel] = "mail" }, []string{".metadata.labels.modelbox"}},
		{"a removed label", func(d *appsv1.Deployment) { delete(d.Labels, modelv1.SelectorLabel) }, []string{".metadata.labels.modelbox"}},
		{"a changed variable", func(d *appsv1.Deployment) { fixture.MainContainer(d).Env[1].Value = "3" }, []string{fixture.MainContainerPath + `.env[name="SECOND"].value`}},
		{"a removed variable", func(d *appsv1.Deployment) { fixture.MainContainer(d).Env = fixture.MainContainer(d).Env[:1] },
			[]string{fixture.MainContainerPath + `.env[name="SECOND"]`}},
		{"a removed probe", func(d *appsv1.Deployment) { fixture.MainContainer(d).StartupProbe = nil }, []string{fixture.MainContainerPath + ".startupProbe"}},
		{"a changed limit", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1001m")
		}, []string{fixture.MainContainerPath + ".resources.limits.cpu"}},
		{"the UDP one of two ports of a number changed", func(d *appsv1.Deployment) { fixture.MainContainer(d).Ports[0].Name = "other" },
			[]string{fixture.MainContainerPath + `.ports[containerPort=8080,protocol="UDP"].name`}},
		{"the TCP one of two ports of a number changed", func(d *appsv1.Deployment) { fixture.MainContainer(d).Ports[1].Name = "other" },
			[]string{fixture.MainContainerPath + `.ports[containerPort=8080,protocol="TCP"].name`}},
		{"a removed mount", func(d *appsv1.Deployment) {
			fixture.MainContainer(d).VolumeMounts = fixture.MainContainer(d).VolumeMounts[1:]
		},
			[]string{fixture.MainContainerPath + `.volumeMounts[mountPath="/cache"]`}},
		{"a volume of another kind", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		}, []string{fixture.PodSpec + `.volumes[name="cache"].emptyDir`}},
		{"the box is no longer the owner", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = ptr.To(false) },
			[]string{`.metadata.ownerReferences[uid="` + fixture.WebUID + `"]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			checkDifferences(t, row.want, func() (*fields.Difference, error) {
				return compare.Compare(rendered, fixture.LiveDeployment(t, row.change))
			})
		})
	}
}

func TestCompareOfAService(t *testing.T) {
	rendered := fixture.Rendered(t, fixture.WebBox(t), "Service")
	compare := fixture.NewComparer()
	for _, row := range []struct {
		name   string
		change func(*corev1.Service)
		want   []string
	}{
		{"allocated addresses and node ports are no difference", func(*corev1.Service) {}, nil},
		{"a foreign port is no difference", func(s *corev1.Service) {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "debug", Port: 81, Protocol: corev1.ProtocolTCP})
		}, nil},
		{"session affinity is no difference", func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP }, nil},
		{"another type", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeLoadBalancer }, []string{".spec.type"}},
		{"another selector", func(s *corev1.Service) { s.Spec.Selector = map[string]string{"modelbox": "mail"} }, []string{".spec.selector"}},
		{"a wider selector", func(s *corev1.Service) { s.Spec.Selector["tier"] = "web" }, []string{".spec.selector"}},
		{"another target of 80/TCP", func(s *corev1.Service) { s.Spec.Ports[1].TargetPort = intstr.FromInt32(9090) },
			[]string{`.spec.ports[port=80,protocol="TCP"].targetPort`}},
		{"another target of 80/UDP", func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromString("dns") },
			[]string{`.spec.ports[port=80,protocol="UDP"].targetPort`}},
		{"another node port than asked for", func(s *corev1.Service) { s.Spec.Ports[1].NodePort = 30011 },
			[]string{`.spec.ports[port=80,protocol="TCP"].nodePort`}},
		{"another node port than allocated is no difference", func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 30011 }, nil},
		{"a removed port", func(s *corev1.Service) { s.Spec.Ports = s.Spec.Ports[1:] }, []string{
			`.spec.ports[port=80,protocol="UDP"]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			checkDifferences(t, row.want, func() (*fields.Difference, error) {
				return compare.Compare(rendered, fixture.LiveService(t, row.change))
			})
		})
	}
}

// The API leaves out a zero that the render spells out.
func TestCompareTakesAZeroForAnOmittedField(t *testing.T) {
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.MinReadySeconds = ptr.To[int32](0) })
	rendered := fixture.Rendered(t, box, "Deployment")
	compare := fixture.NewComparer()
	for _, row := range []struct {
		name            string
		minReadySeconds int32
		want            []string
	}{
		{"zero", 0, nil},
		{"not zero", 1, []string{".spec.minReadySeconds"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = row.minReadySeconds })
			fixture.SetHash(t, box, live)
			checkDifferences(t, row.want, func() (*fields.Difference, error) { return compare.Compare(rendered, live) })
		})
	}
}

// checkDifferences compares the fields found with those wanted, except for the hash, which is compared before.
func checkDifferences(t *testing.T, want []string, find func() (*fields.Difference, error)) {
	t.Helper()
	found, err := find()
	if err != nil {
		t.Fatal(err)
	}
	hash := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RenderHashAnnotation))
	var got []string
	found.Fields.Difference(hash).Leaves().Iterate(func(path fieldpath.Path) { got = append(got, path.String()) })
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	set := func(names ...string) *fieldpath.Set {
		found := fieldpath.NewSet()
		for _, name := range names {
			found.Insert(fieldpath.MakePathOrDie("spec", name))
		}
		return found
	}
	for _, row := range []struct {
		name string
		set  *fieldpath.Set
		want string
	}{
		{"one field", set("replicas"), "spec.replicas"},
		{"three fields", set("a", "b", "c"), "spec.a, spec.b, spec.c"},
		{"the first three of four", set("a", "b", "c", "d"), "spec.a, spec.b, spec.c, …"},
		{"the first three of many", set("a", "b", "c", "d", "e", "f", "g"), "spec.a, spec.b, spec.c, …"},
		{"the field and not what it is in", set("a").Union(fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))), "spec.a"},
		{"no field", set(), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := fields.Names(row.set); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
