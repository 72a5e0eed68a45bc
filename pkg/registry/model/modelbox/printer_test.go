// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/printers"
)

func TestColumns(t *testing.T) {
	table, err := TableConvertor.ConvertToTable(t.Context(), webBox(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var always, wide []string
	for _, column := range table.ColumnDefinitions {
		if column.Description == "" {
			t.Errorf("column %s says nothing about itself", column.Name)
		}
		if column.Priority == 0 {
			always = append(always, strings.ToUpper(column.Name))
		} else {
			wide = append(wide, strings.ToUpper(column.Name))
		}
	}
	if got, want := strings.Join(always, " "), "NAME READY UP-TO-DATE STATUS IMAGE ADDRESS AGE"; got != want {
		t.Errorf("kubectl get: got %s, want %s", got, want)
	}
	if got, want := strings.Join(wide, " "), "WORKLOAD ROLLOUT SIZE MESSAGE SERVICE HOSTS AUTOSCALING"; got != want {
		t.Errorf("kubectl get -o wide adds: got %s, want %s", got, want)
	}
}

func TestRow(t *testing.T) {
	// The cells of webBox by column.
	cells := map[string]any{
		"Name": "web", "Ready": "2/2", "Up-To-Date": int64(2), "Status": "Ready", "Image": "nginx:1.7.9",
		"Address": "web.default.svc:80", "Age": "<unknown>",
		"Workload": "Deployment", "Rollout": "<none>", "Size": "custom", "Service": "ClusterIP 80/TCP", "Message": "2 of 2 replicas are available",
		"Hosts": "<none>", "Autoscaling": "<none>",
	}
	going := func(finalizers ...string) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.DeletionTimestamp, box.Finalizers = ptr.To(metav1.Now()), finalizers }
	}
	secondPort := corev1.ServicePort{Name: "dns", Port: 80, Protocol: corev1.ProtocolUDP}

	for _, row := range []struct {
		name   string
		change func(*model.ModelBox)
		want   map[string]any
	}{
		{"a box that is ready", func(*model.ModelBox) {}, nil},
		{"the reason why it is not", func(box *model.ModelBox) {
			box.Status.ReadyReplicas = 1
			ready := &box.Status.Conditions[0]
			ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ImagePullBackOff", "no such image"
		}, map[string]any{"Ready": "1/2", "Status": "ImagePullBackOff", "Message": "no such image"}},
		{"a box that the controller has not seen", func(box *model.ModelBox) { box.Status = model.ModelBoxStatus{} },
			map[string]any{"Ready": "0/2", "Up-To-Date": int64(0), "Status": "Pending", "Address": "<none>",
				"Message": "the controller has not seen this box yet"}},
		{"a box that was just created", func(box *model.ModelBox) {
			box.Generation, box.Status = 1, model.ModelBoxStatus{Conditions: resource.PendingConditions("box")}
		}, map[string]any{"Ready": "0/2", "Up-To-Date": int64(0), "Status": "Pending", "Address": "<none>",
			"Message": "the controller has not seen this box yet"}},
		{"a change that the controller has not seen", func(box *model.ModelBox) { box.Generation = 4 },
			map[string]any{"Status": "Pending", "Message": "the controller has not seen the last change yet"}},
		{"a box that is going", going(), map[string]any{"Status": "Terminating", "Message": "the box is being deleted"}},
		{"a box that goes after its children", going(metav1.FinalizerDeleteDependents),
			map[string]any{"Status": "Terminating", "Message": "waits for its children to be deleted"}},
		{"a box that leaves its children", going(metav1.FinalizerOrphanDependents),
			map[string]any{"Status": "Terminating", "Message": "waits for its children to be orphaned"}},
		{"a box with the finalizers of other controllers", going("example.com/backup", "example.com/audit"),
			map[string]any{"Status": "Terminating", "Message": "waits for the finalizers example.com/backup, example.com/audit to be removed"}},
		{"a box that waits for everything", going("example.com/backup", metav1.FinalizerDeleteDependents),
			map[string]any{"Status": "Terminating", "Message": "waits for its children to be deleted, and for the finalizer example.com/backup to be removed"}},
		{"the hosts of an Ingress", func(box *model.ModelBox) {
			box.Spec.Ingress = &model.ModelBoxIngress{Hosts: []string{"web.example.com", "a.example.com"}}
		}, map[string]any{"Hosts": "a.example.com,web.example.com"}},
		{"an Ingress of any host", func(box *model.ModelBox) { box.Spec.Ingress = &model.ModelBoxIngress{} }, map[string]any{"Hosts": "*"}},
		{"the hosts of an Ingress and of routes", func(box *model.ModelBox) {
			box.Spec.Ingress = &model.ModelBoxIngress{Hosts: []string{"web.example.com"}}
			box.Spec.Route = &model.ModelBoxRoute{Hosts: []string{"web.example.com", "*.example.com"}}
			box.Spec.GRPCRoute = &model.ModelBoxGRPCRoute{Hosts: []string{"api.example.com", "web.example.com"}}
		}, map[string]any{"Hosts": "*.example.com,api.example.com,web.example.com"}},
		{"a stopped box", func(box *model.ModelBox) { box.Spec.Replicas, box.Status.ReadyReplicas = ptr.To[int32](0), 0 },
			map[string]any{"Ready": "0/0"}},
		{"replicas that an autoscaler asks for", func(box *model.ModelBox) { box.Status.DesiredReplicas = ptr.To[int32](7) }, map[string]any{"Ready": "2/7"}},
		{"replicas that were asked for before the last change", func(box *model.ModelBox) {
			box.Status.DesiredReplicas, box.Generation = ptr.To[int32](7), box.Generation+1
		}, map[string]any{"Ready": "2/2", "Status": "Pending", "Message": "the controller has not seen the last change yet"}},
		{"an autoscaler", func(box *model.ModelBox) {
			box.Spec.Autoscaling = &model.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 10, CPU: ptr.To[int32](70), Memory: ptr.To[int32](80)}
		}, map[string]any{"Autoscaling": "2-10, cpu 70%, memory 80%"}},
		{"an autoscaler with metrics of its own", func(box *model.ModelBox) {
			box.Spec.Autoscaling = &model.ModelBoxAutoscaling{MaxReplicas: 10, CPU: ptr.To[int32](70), Metrics: make([]autoscalingv2.MetricSpec, 1)}
		}, map[string]any{"Autoscaling": "1-10, cpu 70%, 1 more metric"}},
		{"an autoscaler with several metrics of its own", func(box *model.ModelBox) {
			box.Spec.Autoscaling = &model.ModelBoxAutoscaling{MaxReplicas: 10, Metrics: make([]autoscalingv2.MetricSpec, 2)}
		}, map[string]any{"Autoscaling": "1-10, 2 more metrics"}},
		{"replicas that are not given are one", func(box *model.ModelBox) { box.Spec.Replicas = nil }, map[string]any{"Ready": "2/1"}},
		{"a StatefulSet", statefulSet, map[string]any{"Workload": "StatefulSet"}},
		{"a DaemonSet", daemonSet, map[string]any{"Workload": "DaemonSet"}},
		{"a DaemonSet that the controller has not seen", func(box *model.ModelBox) {
			daemonSet(box)
			box.Status = model.ModelBoxStatus{}
		}, map[string]any{"Workload": "DaemonSet", "Ready": "0/0", "Up-To-Date": int64(0), "Status": "Pending", "Address": "<none>",
			"Message": "the controller has not seen this box yet"}},
		{"a DaemonSet with a change that the controller has not seen", func(box *model.ModelBox) {
			daemonSet(box)
			box.Generation = 4
		}, map[string]any{"Workload": "DaemonSet", "Status": "Pending", "Message": "the controller has not seen the last change yet"}},
		{"a rollout that was taken back", func(box *model.ModelBox) {
			box.Spec.Rollout, box.Status.Rollout = &model.ModelBoxRollout{}, &model.ModelBoxRolloutStatus{Phase: model.RolloutRolledBack}
		}, map[string]any{"Rollout": "RolledBack"}},
		{"a rollout in its first of two steps", func(box *model.ModelBox) {
			box.Spec.Rollout = &model.ModelBoxRollout{Steps: make([]model.ModelBoxRolloutStep, 2)}
			box.Status.Rollout = &model.ModelBoxRolloutStatus{Phase: model.RolloutProgressing, Step: ptr.To[int32](1)}
		}, map[string]any{"Rollout": "Progressing 1/2"}},
		{"a rollout whose steps are over", func(box *model.ModelBox) {
			box.Spec.Rollout = &model.ModelBoxRollout{Steps: make([]model.ModelBoxRolloutStep, 2)}
			box.Status.Rollout = &model.ModelBoxRolloutStatus{Phase: model.RolloutProgressing, Step: ptr.To[int32](3)}
		}, map[string]any{"Rollout": "Progressing"}},
		{"a class", func(box *model.ModelBox) { box.Spec.ResourceType = model.ResourceTypeSmall }, map[string]any{"Size": "small"}},
		{"no ports", func(box *model.ModelBox) { box.Spec.Ports, box.Status.Address = nil, "" },
			map[string]any{"Address": "<none>", "Service": "<none>"}},
		{"several ports", func(box *model.ModelBox) { box.Spec.Ports = append(box.Spec.Ports, secondPort) },
			map[string]any{"Service": "ClusterIP 80/TCP,80/UDP"}},
		{"a node port that is asked for", func(box *model.ModelBox) { box.Spec.Ports[0].NodePort = 30010 },
			map[string]any{"Service": "NodePort 80:30010/TCP"}},
		{"a node port that is allocated", func(box *model.ModelBox) {
			box.Spec.ServiceType = model.ServiceTypeNodePort
			box.Status.NodePorts = []model.NodePort{{Port: 80, Protocol: corev1.ProtocolTCP, NodePort: 31234}}
		}, map[string]any{"Service": "NodePort 80:31234/TCP"}},
		{"a node port that is not allocated yet", func(box *model.ModelBox) { box.Spec.ServiceType = model.ServiceTypeNodePort },
			map[string]any{"Service": "NodePort 80/TCP"}},
		{"the node port of the other protocol is not this one's", func(box *model.ModelBox) {
			box.Spec.Ports = append(box.Spec.Ports, secondPort)
			box.Spec.ServiceType = model.ServiceTypeNodePort
			box.Status.NodePorts = []model.NodePort{{Port: 80, Protocol: corev1.ProtocolUDP, NodePort: 31234}}
		}, map[string]any{"Service": "NodePort 80/TCP,80:31234/UDP"}},
		{"headless", func(box *model.ModelBox) { box.Spec.ServiceType = model.ServiceTypeHeadless },
			map[string]any{"Service": "Headless 80/TCP"}},
		// A minute's worth of doubt: the unit of days does not change while the test runs.
		{"its age", func(box *model.ModelBox) {
			box.CreationTimestamp = metav1.NewTime(time.Now().Add(-100*24*time.Hour - time.Hour))
		},
			map[string]any{"Age": "100d"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(row.change)
			table, err := TableConvertor.ConvertToTable(t.Context(), box, &metav1.TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := make([]any, 0, len(columns))
			for _, column := range table.ColumnDefinitions {
				cell, changed := row.want[column.Name]
				if !changed {
					cell = cells[column.Name]
				}
				want = append(want, cell)
			}
			if diff := cmp.Diff(want, table.Rows[0].Cells); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if table.Rows[0].Object.Object != runtime.Object(box) {
				t.Error("the row is not of the box")
			}
		})
	}
}

func TestTables(t *testing.T) {
	list := &model.ModelBoxList{
		ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "more", RemainingItemCount: ptr.To[int64](5)},
		Items:    []model.ModelBox{*webBox(), *webBox(func(box *model.ModelBox) { box.Name = "mail" })},
	}
	for _, row := range []struct {
		name    string
		object  runtime.Object
		options runtime.Object
		meta    metav1.ListMeta
		names   []any
		headers bool
	}{
		{"a box", webBox(), &metav1.TableOptions{}, metav1.ListMeta{ResourceVersion: "7"}, []any{"web"}, true},
		{"a list", list, &metav1.TableOptions{}, list.ListMeta, []any{"web", "mail"}, true},
		{"an empty list", &model.ModelBoxList{}, &metav1.TableOptions{}, metav1.ListMeta{}, nil, true},
		{"a box without headers, as in all but the first event of a watch", webBox(), &metav1.TableOptions{NoHeaders: true}, metav1.ListMeta{ResourceVersion: "7"}, []any{"web"}, false},
		{"no options", webBox(), nil, metav1.ListMeta{ResourceVersion: "7"}, []any{"web"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			table, err := TableConvertor.ConvertToTable(t.Context(), row.object, row.options)
			if err != nil {
				t.Fatal(err)
			}
			var names []any
			for _, row := range table.Rows {
				names = append(names, row.Cells[0])
			}
			if diff := cmp.Diff(row.names, names); diff != "" {
				t.Errorf("rows, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(row.meta, table.ListMeta); diff != "" {
				t.Errorf("metadata, -want +got:\n%s", diff)
			}
			if got := len(table.ColumnDefinitions) > 0; got != row.headers {
				t.Errorf("has headers: got %v, want %v", got, row.headers)
			}
		})
	}
}

func TestTableOfSomethingElse(t *testing.T) {
	if _, err := TableConvertor.ConvertToTable(t.Context(), &metav1.Status{}, nil); err == nil {
		t.Error("a Status was printed as a box")
	}
}

func TestCellsFitTheirColumns(t *testing.T) {
	table, err := TableConvertor.ConvertToTable(t.Context(), webBox(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, column := range table.ColumnDefinitions {
		_, isString := table.Rows[0].Cells[i].(string)
		_, isInteger := table.Rows[0].Cells[i].(int64)
		if isString != (column.Type == "string") || isInteger != (column.Type == "integer") {
			t.Errorf("%v is no %s", table.Rows[0].Cells[i], column.Type)
		}
	}
	if !slices.ContainsFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Format == "name" }) {
		t.Error("no column is the name")
	}
}

func TestLongCells(t *testing.T) {
	box := webBox(image(strings.Repeat("ü", printers.MaxCellBytes)))
	table, err := TableConvertor.ConvertToTable(t.Context(), box, nil)
	if err != nil {
		t.Fatal(err)
	}
	cell := table.Rows[0].Cells[slices.IndexFunc(columns, func(c metav1.TableColumnDefinition) bool { return c.Name == "Image" })].(string)
	if len(cell) > printers.MaxCellBytes || !utf8.ValidString(cell) || !strings.HasSuffix(cell, "ü...") {
		t.Errorf("an image of %d bytes is printed as %d: %q", len(box.Spec.Image), len(cell), cell)
	}
}
