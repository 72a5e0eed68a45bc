// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

func image(image string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Image = image }
}

func nodePortOf(protocol corev1.Protocol, number int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Ports[0].Protocol, box.Spec.Ports[0].NodePort = protocol, number }
}

func without(probes ...model.DefaultProbe) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.DisabledDefaultProbes = probes }
}

func serviceOf(serviceType model.ServiceType, service model.ModelBoxService) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.ServiceType, box.Spec.Service = serviceType, &service }
}

func recreated(box *model.ModelBox) { box.Spec.Strategy = model.StrategyRecreate }

func rollingLimits(replicas int32, maxSurge, maxUnavailable string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Replicas = ptr.To(replicas)
		box.Spec.RollingUpdate = &model.RollingUpdate{
			Type:     model.RollingUpdateObject,
			MaxSurge: ptr.To(intstr.Parse(maxSurge)), MaxUnavailable: ptr.To(intstr.Parse(maxUnavailable)),
		}
	}
}

func TestWarningsOnCreate(t *testing.T) {
	const delaysNone = "spec.startupProbe: " + warn.NoProbeToDelay
	mail := webBox(func(box *model.ModelBox) { box.Namespace, box.Name = "post", "mail" }, nodePortOf("TCP", 30010))
	for _, row := range []struct {
		name   string
		change func(*model.ModelBox)
		want   []string
	}{
		{"an image with a tag", image("nginx:1.7.9"), nil},
		{"an image with a digest", image("nginx@sha256:0000000000000000000000000000000000000000000000000000000000000000"), nil},
		{"an image of a registry with a port", image("registry.example.com:5000/nginx:1.7.9"), nil},
		{"an image without a tag", image("nginx"),
			[]string{"spec.image: " + warn.NoTag("nginx")}},
		{"an image without a tag of a registry with a port", image("registry.example.com:5000/nginx"),
			[]string{"spec.image: " + warn.NoTag("registry.example.com:5000/nginx")}},
		{"the latest image", image("nginx:latest"),
			[]string{"spec.image: " + warn.LatestTag}},
		{"the latest images beside the main one", func(box *model.ModelBox) {
			box.Spec.Containers = []corev1.Container{{Name: "one", Image: "one:1"}, {Name: "two", Image: "two:latest"}}
			box.Spec.InitContainers = []corev1.Container{{Name: "three", Image: "three:latest"}}
		}, []string{
			"spec.containers[1].image: " + warn.LatestTag,
			"spec.initContainers[0].image: " + warn.LatestTag,
		}},
		{"the latest image of a Job", func(box *model.ModelBox) {
			box.Spec.Before = &model.ModelBoxJob{Args: []string{"migrate"}, Image: "migrations:latest"}
			box.Spec.After = &model.ModelBoxJob{Args: []string{"test"}}
		}, []string{"spec.before.image: " + warn.LatestTag}},
		{"a service type without ports", func(box *model.ModelBox) { box.Spec.ServiceType, box.Spec.Ports = "ClusterIP", nil },
			[]string{"spec.serviceType: " + warn.NoEffectWithoutPorts}},
		{"a headless Service that names the pods of a StatefulSet once there are ports", func(box *model.ModelBox) {
			statefulSet(box)
			box.Spec.ServiceType, box.Spec.Ports = "Headless", nil
		}, nil},
		{"another service type of a StatefulSet without ports", func(box *model.ModelBox) {
			statefulSet(box)
			box.Spec.ServiceType, box.Spec.Ports = "ClusterIP", nil
		}, []string{"spec.serviceType: " + warn.NoEffectWithoutPorts}},
		{"limits of a StatefulSet, which not every cluster has", func(box *model.ModelBox) {
			statefulSet(box)
			box.Spec.RollingUpdate = helper.NewRollingUpdate(intstr.FromInt32(2))
		}, []string{"spec.rollingUpdate: " + warn.NeedsFeatureGate}},
		{"limits of a DaemonSet, which every cluster has", func(box *model.ModelBox) {
			daemonSet(box)
			box.Spec.RollingUpdate = helper.NewRollingUpdate(intstr.FromInt32(2))
		}, nil},
		{"names that the pods of a StatefulSet do not get", func(box *model.ModelBox) {
			statefulSet(box)
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Hostname: "db", Subdomain: "data"}}
		}, []string{
			"spec.podTemplate.spec.hostname: " + warn.HostnameOfStatefulSet,
			"spec.podTemplate.spec.subdomain: " + warn.SubdomainOfStatefulSet,
		}},
		{"names that the pods of a DaemonSet get", func(box *model.ModelBox) {
			daemonSet(box)
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Hostname: "db", Subdomain: "data"}}
		}, nil},
		{"a startup probe that has something to delay", func(box *model.ModelBox) { box.Spec.StartupProbe = &corev1.Probe{} }, nil},
		{"a startup probe that delays nothing", func(box *model.ModelBox) {
			box.Spec.StartupProbe, box.Spec.DefaultProbes = &corev1.Probe{}, model.DefaultProbesDisabled
		}, []string{delaysNone}},
		{"a startup probe that has no TCP port to delay the check of", func(box *model.ModelBox) {
			box.Spec.StartupProbe, box.Spec.Ports[0].Protocol = &corev1.Probe{}, corev1.ProtocolUDP
		}, []string{delaysNone}},
		{"a startup probe of a box without ports", func(box *model.ModelBox) { box.Spec.StartupProbe, box.Spec.Ports = &corev1.Probe{}, nil }, []string{delaysNone}},
		{"a startup probe that delays another one", func(box *model.ModelBox) {
			box.Spec.StartupProbe, box.Spec.ReadinessProbe, box.Spec.Ports = &corev1.Probe{}, &corev1.Probe{}, nil
		}, nil},
		{"a startup probe that delays one of the overlay", func(box *model.ModelBox) {
			box.Spec.StartupProbe, box.Spec.Ports = &corev1.Probe{}, nil
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", LivenessProbe: &corev1.Probe{}}}}}
		}, nil},
		{"a startup probe that delays the default readiness probe alone", func(box *model.ModelBox) {
			without("Liveness")(box)
			box.Spec.StartupProbe = &corev1.Probe{}
		}, nil},
		{"a startup probe that delays nothing once the default probes are switched off", func(box *model.ModelBox) {
			without("Liveness", "Readiness")(box)
			box.Spec.StartupProbe = &corev1.Probe{}
		}, []string{delaysNone}},
		{"default probes that are switched off", without("Readiness", "Liveness"), nil},
		{"a default startup probe that is switched off alone", without("Startup"),
			[]string{"spec.disabledDefaultProbes[0]: " + warn.NoStartupProbe}},
		{"a default startup probe that is switched off with the one that it delays", without("Startup", "Liveness"), nil},
		{"a default probe that is switched off although the box has its own", func(box *model.ModelBox) {
			without("Readiness")(box)
			box.Spec.ReadinessProbe = &corev1.Probe{}
		}, []string{"spec.disabledDefaultProbes[0]: " + warn.OwnProbe}},
		{"a default probe that is switched off with all of them", func(box *model.ModelBox) {
			without("Readiness", "Startup")(box)
			box.Spec.DefaultProbes = model.DefaultProbesDisabled
		}, []string{"spec.disabledDefaultProbes: " + warn.NoEffectWith("defaultProbes Disabled")}},
		{"what the Service has beyond", serviceOf("LoadBalancer", model.ModelBoxService{
			SessionAffinity: "ClientIP", TrafficDistribution: ptr.To("PreferSameZone"), LoadBalancerSourceRanges: []string{"203.0.113.0/24"},
		}), nil},
		{"what the Service has beyond, without a Service", func(box *model.ModelBox) {
			box.Spec.Ports, box.Spec.Service = nil, &model.ModelBoxService{SessionAffinity: "ClientIP"}
		}, []string{"spec.service: " + warn.NoEffectWithoutPorts}},
		{"what a headless Service ignores", serviceOf("Headless", model.ModelBoxService{SessionAffinity: "ClientIP"}),
			[]string{"spec.service.sessionAffinity: " + warn.IgnoredFor("Headless")}},
		{"an older name of a traffic distribution", serviceOf("ClusterIP", model.ModelBoxService{TrafficDistribution: ptr.To("PreferClose")}),
			[]string{`spec.service.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`}},
		{"a source range that is not in canonical form", serviceOf("LoadBalancer", model.ModelBoxService{LoadBalancerSourceRanges: []string{"2001:DB8::/32"}}),
			[]string{`spec.service.loadBalancerSourceRanges[0]: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")`}},
		{"a box that is recreated", recreated, nil},
		{"a rolling update of a box that is recreated", func(box *model.ModelBox) {
			recreated(box)
			box.Spec.RollingUpdate = helper.NewRollingUpdate(intstr.FromInt32(1))
		}, []string{"spec.rollingUpdate: " + warn.NoEffectWith("strategy Recreate")}},
		{"limits of a rolling update of a box that is recreated", func(box *model.ModelBox) {
			recreated(box)
			rollingLimits(1, "1", "0")(box)
		}, []string{"spec.rollingUpdate: " + warn.NoEffectWith("strategy Recreate")}},
		{"limits that keep the only pod", rollingLimits(1, "1", "99%"), nil},
		{"limits that cost the only pod", rollingLimits(1, "0", "1"),
			[]string{"spec.rollingUpdate.maxUnavailable: " + warn.OnlyPodDeletedFirst}},
		{"limits that cost the only pod by a share", rollingLimits(1, "1", "100%"),
			[]string{"spec.rollingUpdate.maxUnavailable: " + warn.OnlyPodDeletedFirst}},
		{"limits that cost one pod of two", rollingLimits(2, "0", "1"), nil},
		{"a node port of its own", nodePortOf("TCP", 30011), nil},
		{"a node port of another box", nodePortOf("TCP", 30010),
			[]string{"spec.ports[0].nodePort: " + warn.AlreadyRequested("30010/TCP", "ModelBox mail in namespace post")}},
		{"a node port of another box for the other protocol", nodePortOf("UDP", 30010), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := newStrategy(webBox(row.change), mail).WarningsOnCreate(byUser(t, "jane"), webBox(row.change))
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWarningsOnUpdate(t *testing.T) {
	mail := webBox(func(box *model.ModelBox) { box.Name = "mail" }, nodePortOf("TCP", 30010))

	for _, row := range []struct {
		name     string
		old, new func(*model.ModelBox)
		want     []string
	}{
		{"nothing is changed, and nothing is said about what was there", image("nginx"), image("nginx"), nil},
		{"a change of the pods rolls them", nil, image("nginx:2"), []string{"rolls 2 pods"}},
		{"labels of everything roll the pods", nil, func(box *model.ModelBox) { box.Spec.Labels = map[string]string{"team": "shop"} }, []string{"rolls 2 pods"}},
		{"annotations of everything roll the pods", nil, func(box *model.ModelBox) { box.Spec.Annotations = map[string]string{"team": "shop"} }, []string{"rolls 2 pods"}},
		{"labels of the Service roll none", nil, serviceOf("", model.ModelBoxService{Labels: map[string]string{"team": "shop"}}), nil},
		{"a changed box has its latest image pointed out", image("nginx"), func(box *model.ModelBox) {
			box.Spec.Image, box.Spec.Replicas = "nginx", ptr.To[int32](3)
		}, []string{"spec.image: " + warn.NoTag("nginx")}},
		{"a box that an earlier release let be larger is said not to be recovered",
			func(box *model.ModelBox) { box.Spec.Args = large(2 * maxSpecBytes).Spec.Args },
			func(box *model.ModelBox) { box.Spec.Args = large(2*maxSpecBytes - 1).Spec.Args },
			[]string{fmt.Sprintf("spec: has %d bytes: with more than 98304, a box may not be recovered if its store is lost", sizeOf(t, large(2*maxSpecBytes-1))), "rolls 2 pods"}},
		{"a new node port of another box", nil, nodePortOf("TCP", 30010),
			[]string{"spec.ports[0].nodePort: " + warn.AlreadyRequested("30010/TCP", "ModelBox mail in namespace default")}},
		{"a node port of another box that it had before", nodePortOf("TCP", 30010), func(box *model.ModelBox) {
			nodePortOf("TCP", 30010)(box)
			box.Spec.Paused = true
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, box := webBox(), webBox(row.new)
			if row.old != nil {
				row.old(old)
			}
			got := newStrategy(old, mail).WarningsOnUpdate(byUser(t, "jane"), box, old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func sizeOf(t *testing.T, box *model.ModelBox) int {
	t.Helper()
	size, err := specBytes(box)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// A client that writes through a subresource does not see the rest of the box. TestScaleWarnings has the warnings for the scale.
func TestSubresourcesDoNotWarnOfTheSpec(t *testing.T) {
	if got := NewScaleStrategy(newStrategy()).WarningsOnUpdate(t.Context(), webBox(image("nginx")), webBox()); len(got) != 0 {
		t.Errorf("scaling: got %q", got)
	}
	if got := NewStatusStrategy(newStrategy()).WarningsOnUpdate(t.Context(), webBox(image("nginx:2")), webBox()); len(got) != 0 {
		t.Errorf("writing a status: got %q", got)
	}
}

func TestABoxIsCreatedAlthoughTheOthersCannotBeListed(t *testing.T) {
	strategy := NewStrategy(scheme, func(context.Context) (*model.ModelBoxList, error) { return nil, errors.New("not yet") }, nil, nil, SpecValidator{})
	if got := strategy.WarningsOnCreate(t.Context(), webBox(nodePortOf("TCP", 30010))); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}
