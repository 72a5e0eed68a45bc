// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostcluster_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/hostclustertest"
)

var (
	hostnameOverride   = hostcluster.Field{Type: "core/v1.PodSpec", Name: "hostnameOverride"}
	restartPolicyRules = hostcluster.Field{Type: "core/v1.Container", Name: "restartPolicyRules"}
	schedulingGroup    = hostcluster.Field{Type: "core/v1.PodSpec", Name: "schedulingGroup"}
)

// newPod has two fields of 1.34 and one of 1.36.
func newPod() *corev1.PodSpec {
	return &corev1.PodSpec{
		HostnameOverride: ptr.To("web"),
		SchedulingGroup:  &corev1.PodSchedulingGroup{PodGroupName: ptr.To("web")},
		Containers: []corev1.Container{{Name: "plain", Image: "nginx"}, {
			Name:               "new",
			RestartPolicyRules: []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestart}},
		}},
	}
}

// unknownIn are the paths of what the cluster does not know of the pod.
func unknownIn(t *testing.T, cluster *hostcluster.Cluster, pod *corev1.PodSpec) []string {
	t.Helper()
	uses, err := cluster.UnknownIn(t.Context(), pod, field.NewPath("spec"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, use := range uses {
		paths = append(paths, use.Path.String())
	}
	return paths
}

func TestUnknownFieldsAreThoseOfLaterVersions(t *testing.T) {
	for _, row := range []struct {
		minor string
		want  []string
	}{
		{"1.33", []string{"spec.containers[1].restartPolicyRules", "spec.hostnameOverride", "spec.schedulingGroup"}},
		{"1.34", []string{"spec.schedulingGroup"}},
		{"1.36", nil},
	} {
		t.Run(row.minor, func(t *testing.T) {
			cluster := hostclustertest.NewServer(t, row.minor).Cluster(t, clocktesting.NewFakePassiveClock(time.Now()))
			if diff := cmp.Diff(row.want, unknownIn(t, cluster, newPod())); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if got, want := cluster.Version(), "v"+row.minor+".0"; got != want {
				t.Errorf("the cluster is %s, want %s", got, want)
			}
			for _, unknown := range cluster.UnknownFields() {
				if unknown.IntroducedIn() <= row.minor {
					t.Errorf("%s is unknown, although %s has it", unknown, unknown.IntroducedIn())
				}
			}
			if got, want := slices.Contains(cluster.UnknownFields(), hostnameOverride), row.minor == "1.33"; got != want {
				t.Errorf("%s is unknown: %t, want %t", hostnameOverride, got, want)
			}
		})
	}
}

func TestFieldsAreIntroducedInMinorVersions(t *testing.T) {
	for field, want := range map[hostcluster.Field]string{
		hostnameOverride:   "1.34",
		restartPolicyRules: "1.34",
		schedulingGroup:    "1.36",
		{Type: "core/v1.PodSpec", Name: "containers"}: "",
	} {
		if got := field.IntroducedIn(); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}

func TestClusterIsAskedAgainBeforeAFieldIsUnknown(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	server := hostclustertest.NewServer(t, "1.33")
	cluster := server.Cluster(t, clock)
	if got := unknownIn(t, cluster, newPod()); len(got) != 3 {
		t.Fatalf("got %v, want three fields", got)
	}

	server.Upgrade("1.36")
	clock.SetTime(clock.Now().Add(time.Minute))
	if got := unknownIn(t, cluster, newPod()); got != nil {
		t.Errorf("once the cluster is upgraded, got %v, want nothing", got)
	}
}

func TestKnownChildIsWithoutTheFieldsThatTheClusterDoesNotKnow(t *testing.T) {
	newDeployment := func(pod map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"spec": map[string]any{"replicas": int64(1), "template": map[string]any{"spec": pod}},
		}}
	}
	server := hostclustertest.NewServer(t, "1.33")
	cluster := server.Cluster(t, clocktesting.NewFakePassiveClock(time.Now()))
	child := newDeployment(map[string]any{"hostname": "web", "hostnameOverride": "web"})
	if got := cluster.Known(child); got != child {
		t.Errorf("of a cluster that was never asked, got %v, want the child", got)
	}

	if err := cluster.Refresh(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	want := newDeployment(map[string]any{"hostname": "web"})
	if diff := cmp.Diff(want, cluster.Known(child)); diff != "" {
		t.Errorf("known (-want +got):\n%s", diff)
	}
	if got := cluster.Known(want); got != want {
		t.Errorf("of a child that is known, got %v, want the child itself", got)
	}
}

func TestKnownFieldsCostNoRequest(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	server := hostclustertest.NewServer(t, "1.36")
	cluster := server.Cluster(t, clock)
	for range 3 {
		if err := cluster.Refresh(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := server.Documents(); got != 1 {
		t.Errorf("the same document was read %d times, want once", got)
	}
	server.SetDown(true)
	clock.SetTime(clock.Now().Add(time.Hour))
	if got := unknownIn(t, cluster, newPod()); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}

func TestClusterThatDoesNotAnswer(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	server := hostclustertest.NewServer(t, "1.33")
	server.SetDown(true)
	cluster := server.Cluster(t, clock)
	if got := unknownIn(t, cluster, newPod()); got != nil || cluster.Version() != "" {
		t.Errorf("before it has ever answered, got %v of %q, want nothing", got, cluster.Version())
	}

	server.SetDown(false)
	if got := unknownIn(t, cluster, newPod()); len(got) != 3 {
		t.Errorf("once it answers, got %v, want three fields", got)
	}

	server.SetDown(true)
	clock.SetTime(clock.Now().Add(time.Hour))
	if got := unknownIn(t, cluster, newPod()); len(got) != 3 {
		t.Errorf("when it no longer answers, got %v, want the three that are known", got)
	}
}
