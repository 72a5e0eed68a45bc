// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The paths in the pod template of testdata's Deployment.
const (
	podSpec = ".spec.template.spec"
	app     = podSpec + `.containers[name="app"]`
)

func TestDifferencesOfADeployment(t *testing.T) {
	rendered := renderedKind(t, webBox(t), "Deployment")
	compare := newComparer()
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
			main := mainOf(d)
			main.Env = append(main.Env, corev1.EnvVar{Name: "THIRD", Value: "3"})
		}, nil},
		{"a field that the box leaves out may have any value", func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = ptr.To[int32](0) }, nil},
		{"a finalizer is no difference", func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/keep"} }, nil},
		{"a second owner is no difference", func(d *appsv1.Deployment) {
			d.OwnerReferences = append(d.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "web", UID: "2"})
		}, nil},
		{"another spelling of a quantity is no difference", func(d *appsv1.Deployment) {
			mainOf(d).Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1000m")
		}, nil},
		{"another order of variables is no difference", func(d *appsv1.Deployment) { slices.Reverse(mainOf(d).Env) }, nil},

		{"a changed image", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:2" }, []string{app + ".image"}},
		{"a changed number", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](3) }, []string{".spec.replicas"}},
		{"a number changed to 0", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](0) }, []string{".spec.replicas"}},
		{"a share changed to a number", func(d *appsv1.Deployment) {
			d.Spec.Strategy.RollingUpdate.MaxSurge = ptr.To(intstr.FromInt32(1))
		}, []string{".spec.strategy.rollingUpdate.maxSurge"}},
		{"a changed label", func(d *appsv1.Deployment) { d.Labels[modelv1.SelectorLabel] = "mail" }, []string{".metadata.labels.modelbox"}},
		{"a removed label", func(d *appsv1.Deployment) { delete(d.Labels, modelv1.SelectorLabel) }, []string{".metadata.labels.modelbox"}},
		{"a changed variable", func(d *appsv1.Deployment) { mainOf(d).Env[1].Value = "3" }, []string{app + `.env[name="SECOND"].value`}},
		{"a removed variable", func(d *appsv1.Deployment) { mainOf(d).Env = mainOf(d).Env[:1] },
			[]string{app + `.env[name="SECOND"].name`, app + `.env[name="SECOND"].value`}},
		{"a removed probe", func(d *appsv1.Deployment) { mainOf(d).StartupProbe = nil }, []string{
			app + ".startupProbe.failureThreshold", app + ".startupProbe.periodSeconds",
			app + ".startupProbe.tcpSocket.port", app + ".startupProbe.timeoutSeconds"}},
		{"a changed limit", func(d *appsv1.Deployment) {
			mainOf(d).Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1001m")
		}, []string{app + ".resources.limits.cpu"}},
		{"the UDP one of two ports of a number changed", func(d *appsv1.Deployment) { mainOf(d).Ports[0].Name = "other" },
			[]string{app + `.ports[containerPort=8080,protocol="UDP"].name`}},
		{"the TCP one of two ports of a number changed", func(d *appsv1.Deployment) { mainOf(d).Ports[1].Name = "other" },
			[]string{app + `.ports[containerPort=8080,protocol="TCP"].name`}},
		{"a removed mount", func(d *appsv1.Deployment) { mainOf(d).VolumeMounts = mainOf(d).VolumeMounts[1:] },
			[]string{app + `.volumeMounts[mountPath="/cache"].mountPath`, app + `.volumeMounts[mountPath="/cache"].name`}},
		{"a volume of another kind", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		}, []string{podSpec + `.volumes[name="cache"].emptyDir`}},
		{"the box is no longer the owner", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = ptr.To(false) },
			[]string{`.metadata.ownerReferences[uid="` + webUID + `"]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			checkDifferences(t, row.want, func() (*fieldpath.Set, error) {
				return compare.differences(rendered, liveDeployment(t, row.change))
			})
		})
	}
}

func TestDifferencesOfAService(t *testing.T) {
	rendered := renderedKind(t, webBox(t), "Service")
	compare := newComparer()
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
			`.spec.ports[port=80,protocol="UDP"].name`, `.spec.ports[port=80,protocol="UDP"].port`,
			`.spec.ports[port=80,protocol="UDP"].protocol`, `.spec.ports[port=80,protocol="UDP"].targetPort`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			checkDifferences(t, row.want, func() (*fieldpath.Set, error) {
				return compare.differences(rendered, liveService(t, row.change))
			})
		})
	}
}

// The API leaves out a zero that the render spells out.
func TestAZeroIsNoDifferenceFromNothing(t *testing.T) {
	rendered := renderedKind(t, webBox(t, func(box *modelv1.ModelBox) { box.Spec.MinReadySeconds = ptr.To[int32](0) }), "Deployment")
	compare := newComparer()
	for _, row := range []struct {
		name            string
		minReadySeconds int32
		want            []string
	}{
		{"zero", 0, nil},
		{"not zero", 1, []string{".spec.minReadySeconds"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := liveDeployment(t, func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = row.minReadySeconds })
			live.Annotations[modelv1.RenderHashAnnotation] = rendered.GetAnnotations()[modelv1.RenderHashAnnotation]
			checkDifferences(t, row.want, func() (*fieldpath.Set, error) { return compare.differences(rendered, live) })
		})
	}
}

// checkDifferences compares the fields found with those wanted, except for the hash, which is compared before.
func checkDifferences(t *testing.T, want []string, find func() (*fieldpath.Set, error)) {
	t.Helper()
	fields, err := find()
	if err != nil {
		t.Fatal(err)
	}
	hash := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RenderHashAnnotation))
	var got []string
	for path := range fields.Difference(hash).Leaves().All() {
		got = append(got, path.String())
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestIsSameRender(t *testing.T) {
	box := webBox(t)
	live := liveDeployment(t)
	setHash(t, box, live)
	if !isSameRender(renderedKind(t, box, "Deployment"), live) {
		t.Error("the same box is not the same render")
	}
	box.Spec.Image = "nginx:2"
	if isSameRender(renderedKind(t, box, "Deployment"), live) {
		t.Error("another box is the same render")
	}
}

func mainOf(deployment *appsv1.Deployment) *corev1.Container {
	containers := deployment.Spec.Template.Spec.Containers
	return &containers[slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == "app" })]
}

func TestLastWriter(t *testing.T) {
	replicas, image := fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "image")
	at := func(hour int) *metav1.Time {
		return ptr.To(metav1.Date(2026, time.January, 1, hour, 0, 0, 0, time.UTC))
	}
	entry := func(manager string, when *metav1.Time, fields ...fieldpath.Path) metav1.ManagedFieldsEntry {
		data, err := fieldpath.NewSet(fields...).ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		managed := &metav1.FieldsV1{}
		if err := json.Unmarshal(data, managed); err != nil {
			t.Fatal(err)
		}
		return metav1.ManagedFieldsEntry{Manager: manager, Time: when, FieldsType: "FieldsV1", FieldsV1: managed}
	}
	for _, row := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		want    string
	}{
		{"nobody, when nothing is known", nil, ""},
		{"who set the field", []metav1.ManagedFieldsEntry{entry("kubectl", at(1), replicas)}, "kubectl"},
		{"not who set another field", []metav1.ManagedFieldsEntry{entry("kubectl", at(1), image)}, ""},
		{"not the controller itself", []metav1.ManagedFieldsEntry{entry("modelbox-apiserver", at(2), replicas), entry("kubectl", at(1), replicas)}, "kubectl"},
		{"the last one of several", []metav1.ManagedFieldsEntry{
			entry("first", at(1), replicas), entry("last", at(3), replicas), entry("second", at(2), replicas)}, "last"},
		{"one with a time rather than one without", []metav1.ManagedFieldsEntry{entry("without", nil, replicas), entry("with", at(1), replicas)}, "with"},
		{"one without a time when there is no other", []metav1.ManagedFieldsEntry{entry("without", nil, replicas)}, "without"},
		{"nobody whose fields cannot be read", []metav1.ManagedFieldsEntry{{Manager: "broken", FieldsV1: metav1.NewFieldsV1("{")}, {Manager: "empty"}}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := &metav1.ObjectMeta{ManagedFields: row.entries}
			if got := lastWriter(live, fieldpath.NewSet(replicas)); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestLeaves(t *testing.T) {
	fields := func(names ...string) *fieldpath.Set {
		set := fieldpath.NewSet()
		for _, name := range names {
			set.Insert(fieldpath.MakePathOrDie("spec", name))
		}
		return set
	}
	for _, row := range []struct {
		name string
		set  *fieldpath.Set
		want string
	}{
		{"one field", fields("replicas"), "spec.replicas"},
		{"three fields", fields("a", "b", "c"), "spec.a, spec.b, spec.c"},
		{"the first three of four", fields("a", "b", "c", "d"), "spec.a, spec.b, spec.c, …"},
		{"the first three of many", fields("a", "b", "c", "d", "e", "f", "g"), "spec.a, spec.b, spec.c, …"},
		{"the field and not what it is in", fields("a").Union(fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))), "spec.a"},
		{"no field", fields(), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := leaves(row.set); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
