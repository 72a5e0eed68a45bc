// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}()

// newSpec returns what the spec of a box named web is that says nothing, with the given change.
func newSpec(change func(*modelv1.ModelBoxSpec)) modelv1.ModelBoxSpec {
	spec := modelv1.ModelBoxSpec{
		Name:            "web",
		Replicas:        ptr.To[int32](1),
		Workload:        modelv1.WorkloadDeployment,
		Strategy:        modelv1.StrategyRollingUpdate,
		RollingUpdate:   modelv1.NewRollingUpdate(intstr.FromString("25%")),
		MinReadySeconds: ptr.To[int32](3),
		ResourceType:    modelv1.ResourceTypeCustom,
		DefaultProbes:   modelv1.DefaultProbesEnabled,
	}
	if change != nil {
		change(&spec)
	}
	return spec
}

func ports(ports ...corev1.ServicePort) []corev1.ServicePort { return ports }

func TestDefaults(t *testing.T) {
	type spec = modelv1.ModelBoxSpec
	for _, row := range []struct {
		name  string
		given spec
		want  func(*spec)
	}{
		{"a box that says nothing gets every default", spec{}, nil},
		{"a container name stays", spec{Name: "app"}, func(s *spec) { s.Name = "app" }},
		{"0 replicas stay 0", spec{Replicas: ptr.To[int32](0)}, func(s *spec) { s.Replicas = ptr.To[int32](0) }},
		{"5 replicas stay 5", spec{Replicas: ptr.To[int32](5)}, func(s *spec) { s.Replicas = ptr.To[int32](5) }},
		{"an Ingress and a route get all paths", spec{Ingress: &modelv1.ModelBoxIngress{}, Route: &modelv1.ModelBoxRoute{}}, func(s *spec) {
			s.Ingress = &modelv1.ModelBoxIngress{Path: "/", PathType: networkingv1.PathTypePrefix}
			s.Route = &modelv1.ModelBoxRoute{Path: "/", PathType: networkingv1.PathTypePrefix}
		}},
		{"a path that depends on the class stays empty", spec{Ingress: &modelv1.ModelBoxIngress{PathType: networkingv1.PathTypeImplementationSpecific}}, func(s *spec) {
			s.Ingress = &modelv1.ModelBoxIngress{PathType: networkingv1.PathTypeImplementationSpecific}
		}},
		{"further paths are prefixes", spec{Ingress: &modelv1.ModelBoxIngress{Paths: []modelv1.ModelBoxIngressPath{{Path: "/a"}, {Path: "/b", PathType: networkingv1.PathTypeExact}}}}, func(s *spec) {
			s.Ingress = &modelv1.ModelBoxIngress{Path: "/", PathType: networkingv1.PathTypePrefix, Paths: []modelv1.ModelBoxIngressPath{
				{Path: "/a", PathType: networkingv1.PathTypePrefix}, {Path: "/b", PathType: networkingv1.PathTypeExact}}}
		}},
		{"rules have the defaults of their matches and redirects", spec{Route: &modelv1.ModelBoxRoute{Rules: []modelv1.RouteRule{
			{}, {Matches: []modelv1.RouteMatch{{Headers: []modelv1.RouteValueMatch{{Name: "a", Value: "b"}}, QueryParams: []modelv1.RouteValueMatch{{Name: "c", Value: "d"}}}},
				RequestRedirect: &modelv1.RouteRequestRedirect{Scheme: "https"}}}}}, func(s *spec) {
			s.Route = &modelv1.ModelBoxRoute{Rules: []modelv1.RouteRule{{}, {
				Matches: []modelv1.RouteMatch{{Path: "/", PathType: networkingv1.PathTypePrefix,
					Headers:     []modelv1.RouteValueMatch{{Name: "a", Value: "b", Type: modelv1.RouteValueMatchExact}},
					QueryParams: []modelv1.RouteValueMatch{{Name: "c", Value: "d", Type: modelv1.RouteValueMatchExact}}}},
				RequestRedirect: &modelv1.RouteRequestRedirect{Scheme: "https", StatusCode: ptr.To[int32](302)}}}}
		}},
		{"rules of a GRPCRoute have the defaults of their matches", spec{GRPCRoute: &modelv1.ModelBoxGRPCRoute{Rules: []modelv1.GRPCRouteRule{
			{}, {Matches: []modelv1.GRPCRouteMatch{{}, {Method: &modelv1.GRPCMethodMatch{Service: "shop.Cart"}, Headers: []modelv1.RouteValueMatch{{Name: "a", Value: "b"}}}}}}}}, func(s *spec) {
			s.GRPCRoute = &modelv1.ModelBoxGRPCRoute{Rules: []modelv1.GRPCRouteRule{{}, {Matches: []modelv1.GRPCRouteMatch{{}, {
				Method:  &modelv1.GRPCMethodMatch{Service: "shop.Cart", Type: modelv1.RouteValueMatchExact},
				Headers: []modelv1.RouteValueMatch{{Name: "a", Value: "b", Type: modelv1.RouteValueMatchExact}}}}}}}
		}},
		{"the default path of a route goes when rules come", spec{Route: &modelv1.ModelBoxRoute{Path: "/", PathType: networkingv1.PathTypePrefix, Rules: []modelv1.RouteRule{{}}}}, func(s *spec) {
			s.Route = &modelv1.ModelBoxRoute{Rules: []modelv1.RouteRule{{}}}
		}},
		{"another path of a route with rules stays, and is refused", spec{Route: &modelv1.ModelBoxRoute{Path: "/a", Rules: []modelv1.RouteRule{{}}}}, func(s *spec) {
			s.Route = &modelv1.ModelBoxRoute{Path: "/a", Rules: []modelv1.RouteRule{{}}}
		}},
		{"an autoscaler has 1 pod at least", spec{Autoscaling: &modelv1.ModelBoxAutoscaling{MaxReplicas: 5}},
			func(s *spec) {
				s.Autoscaling = &modelv1.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](1), MaxReplicas: 5}
			}},
		{"replicas start with what an autoscaler has at least", spec{Autoscaling: &modelv1.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](3), MaxReplicas: 5}},
			func(s *spec) {
				s.Replicas, s.Autoscaling = ptr.To[int32](3), &modelv1.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](3), MaxReplicas: 5}
			}},
		{"replicas beside an autoscaler stay", spec{Replicas: ptr.To[int32](4), Autoscaling: &modelv1.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](3), MaxReplicas: 5}},
			func(s *spec) {
				s.Replicas, s.Autoscaling = ptr.To[int32](4), &modelv1.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](3), MaxReplicas: 5}
			}},
		{"a rolling update of pods stays", spec{RollingUpdate: modelv1.NewRollingUpdate(intstr.FromInt32(2))},
			func(s *spec) { s.RollingUpdate = modelv1.NewRollingUpdate(intstr.FromInt32(2)) }},
		{"a rolling update of a share stays", spec{RollingUpdate: modelv1.NewRollingUpdate(intstr.FromString("30%"))},
			func(s *spec) { s.RollingUpdate = modelv1.NewRollingUpdate(intstr.FromString("30%")) }},
		{"a rolling update that says one limit gets the other", spec{RollingUpdate: &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: ptr.To(intstr.FromInt32(1))}},
			func(s *spec) {
				s.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromString("25%"))}
			}},
		{"a rolling update that says the other limit gets the one", spec{RollingUpdate: &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxUnavailable: ptr.To(intstr.FromInt32(0))}},
			func(s *spec) {
				s.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: ptr.To(intstr.FromString("25%")), MaxUnavailable: ptr.To(intstr.FromInt32(0))}
			}},
		{"a rolling update that says nothing is left to validation", spec{RollingUpdate: &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject}},
			func(s *spec) { s.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject} }},
		{"a strategy stays", spec{Strategy: modelv1.StrategyRecreate}, func(s *spec) { s.Strategy = modelv1.StrategyRecreate }},
		{"0 seconds to be ready stay 0", spec{MinReadySeconds: ptr.To[int32](0)}, func(s *spec) { s.MinReadySeconds = ptr.To[int32](0) }},
		{"a rollout that fails is left as it is", spec{Rollout: &modelv1.ModelBoxRollout{}},
			func(s *spec) {
				s.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureNone, MaxRestarts: ptr.To[int32](3)}
			}},
		{"a Job has no replicas", spec{Workload: modelv1.WorkloadJob}, func(s *spec) {
			s.Workload, s.Replicas, s.RollingUpdate, s.MinReadySeconds = modelv1.WorkloadJob, nil, nil, nil
		}},
		{"a CronJob has the defaults of Kubernetes", spec{Workload: modelv1.WorkloadCronJob, Job: &modelv1.ModelBoxJobSpec{}, CronJob: &modelv1.ModelBoxCronJobSpec{}},
			func(s *spec) {
				s.Workload, s.Job, s.CronJob = modelv1.WorkloadCronJob, &modelv1.ModelBoxJobSpec{}, &modelv1.ModelBoxCronJobSpec{}
				s.Replicas, s.RollingUpdate, s.MinReadySeconds = nil, nil, nil
			}},
		{"a box with a Job has a rollout", spec{Before: &modelv1.ModelBoxJob{Args: []string{"migrate"}}},
			func(s *spec) {
				s.Before = &modelv1.ModelBoxJob{Args: []string{"migrate"}, BackoffLimit: ptr.To[int32](6), ActiveDeadlineSeconds: ptr.To[int64](3600)}
				s.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureNone, MaxRestarts: ptr.To[int32](3)}
			}},
		{"the limits of a Job stay", spec{
			After:   &modelv1.ModelBoxJob{Args: []string{"test"}, BackoffLimit: ptr.To[int32](0), ActiveDeadlineSeconds: ptr.To[int64](60)},
			Rollout: &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback},
		}, func(s *spec) {
			s.After = &modelv1.ModelBoxJob{Args: []string{"test"}, BackoffLimit: ptr.To[int32](0), ActiveDeadlineSeconds: ptr.To[int64](60)}
			s.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback, MaxRestarts: ptr.To[int32](3)}
		}},
		{"a class stays", spec{ResourceType: modelv1.ResourceTypeSmall}, func(s *spec) { s.ResourceType = modelv1.ResourceTypeSmall }},
		{"disabled probes stay disabled", spec{DefaultProbes: modelv1.DefaultProbesDisabled},
			func(s *spec) { s.DefaultProbes = modelv1.DefaultProbesDisabled }},
		{"a service type stays", spec{ServiceType: modelv1.ServiceTypeHeadless}, func(s *spec) { s.ServiceType = modelv1.ServiceTypeHeadless }},
		{"probes are injected by the render, not stored", spec{Ports: ports(corev1.ServicePort{Port: 80})},
			func(s *spec) {
				s.Ports = ports(corev1.ServicePort{Port: 80, Protocol: "TCP", TargetPort: intstr.FromInt32(80)})
			}},

		{"a port leads to itself, by TCP, and needs no name", spec{Ports: ports(corev1.ServicePort{Port: 80})},
			func(s *spec) {
				s.Ports = ports(corev1.ServicePort{Port: 80, Protocol: "TCP", TargetPort: intstr.FromInt32(80)})
			}},
		{"what a port says stays", spec{Ports: ports(corev1.ServicePort{Name: "dns", Port: 53, Protocol: "UDP", TargetPort: intstr.FromInt32(5353)})},
			func(s *spec) {
				s.Ports = ports(corev1.ServicePort{Name: "dns", Port: 53, Protocol: "UDP", TargetPort: intstr.FromInt32(5353)})
			}},
		{"a target port that is a name stays", spec{Ports: ports(corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("http")})},
			func(s *spec) {
				s.Ports = ports(corev1.ServicePort{Port: 80, Protocol: "TCP", TargetPort: intstr.FromString("http")})
			}},
		{"a service type is not stored for a node port", spec{Ports: ports(corev1.ServicePort{Port: 80, NodePort: 30010})},
			func(s *spec) {
				s.Ports = ports(corev1.ServicePort{Port: 80, NodePort: 30010, Protocol: "TCP", TargetPort: intstr.FromInt32(80)})
			}},
		{"several ports get names, except those that have one",
			spec{Ports: ports(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 80, Protocol: "UDP"}, corev1.ServicePort{Name: "https", Port: 443})},
			func(s *spec) {
				s.Ports = ports(
					corev1.ServicePort{Name: "tcp-80", Port: 80, Protocol: "TCP", TargetPort: intstr.FromInt32(80)},
					corev1.ServicePort{Name: "udp-80", Port: 80, Protocol: "UDP", TargetPort: intstr.FromInt32(80)},
					corev1.ServicePort{Name: "https", Port: 443, Protocol: "TCP", TargetPort: intstr.FromInt32(443)})
			}},
		{"the ports of containers are TCP",
			spec{
				Containers:     []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 1}}}},
				InitContainers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 2, Protocol: "UDP"}, {ContainerPort: 3}}}},
			},
			func(s *spec) {
				s.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 1, Protocol: "TCP"}}}}
				s.InitContainers = []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 2, Protocol: "UDP"}, {ContainerPort: 3, Protocol: "TCP"}}}}
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: row.given}
			scheme.Default(box)
			if diff := cmp.Diff(newSpec(row.want), box.Spec); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}

			again := box.DeepCopy()
			scheme.Default(again)
			if diff := cmp.Diff(box, again); diff != "" {
				t.Errorf("the second time changes what the first one did (-first +second):\n%s", diff)
			}
		})
	}
}

// The registry names the main container once there is a name.
func TestDefaultsOfABoxWhoseNameIsGenerated(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}}
	scheme.Default(box)
	if box.Spec.Name != "" {
		t.Errorf("the main container is named %q", box.Spec.Name)
	}
}

func TestDefaultsOfAList(t *testing.T) {
	list := &modelv1.ModelBoxList{Items: []modelv1.ModelBox{{ObjectMeta: metav1.ObjectMeta{Name: "web"}}}}
	scheme.Default(list)
	if diff := cmp.Diff(newSpec(nil), list.Items[0].Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFieldLabels(t *testing.T) {
	kind := modelv1.SchemeGroupVersion.WithKind("ModelBox")
	for _, label := range []string{"metadata.name", "metadata.namespace", "spec.image", "spec.serviceType", "spec.workload"} {
		t.Run(label, func(t *testing.T) {
			gotLabel, gotValue, err := scheme.ConvertFieldLabel(kind, label, "x")
			if err != nil || gotLabel != label || gotValue != "x" {
				t.Errorf("got %s=%s, %v", gotLabel, gotValue, err)
			}
		})
	}
	for value, want := range map[string]string{"true": "true", "True": "true", "false": "false", "False": "false"} {
		t.Run("status.ready="+value, func(t *testing.T) {
			gotLabel, gotValue, err := scheme.ConvertFieldLabel(kind, "status.ready", value)
			if err != nil || gotLabel != "status.ready" || gotValue != want {
				t.Errorf("got %s=%s, %v", gotLabel, gotValue, err)
			}
		})
	}
	for _, value := range []string{"", "Unknown", "yes", "tRuE"} {
		t.Run("not status.ready="+value, func(t *testing.T) {
			_, _, err := scheme.ConvertFieldLabel(kind, "status.ready", value)
			want := `"` + value + `" is not a value of the field selector "status.ready": only "true", "false"`
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	for _, label := range []string{"", "metadata.labels", "spec.replicas", "status.phase", "Spec.Image"} {
		t.Run("not "+label, func(t *testing.T) {
			_, _, err := scheme.ConvertFieldLabel(kind, label, "x")
			want := `"` + label + `" is not a known field selector: only "metadata.name", "metadata.namespace", "spec.image", "spec.serviceType", "spec.workload", "status.ready"`
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
