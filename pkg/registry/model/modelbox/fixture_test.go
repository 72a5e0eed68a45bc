// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}()

// webBox returns a valid box of two replicas and one port, of generation 3 and observed as such, with the given
// changes.
func webBox(changes ...func(*model.ModelBox)) *model.ModelBox {
	box := &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "default", UID: "1", ResourceVersion: "7", Generation: 3,
			Labels: map[string]string{"team": "shop"},
		},
		Spec: model.ModelBoxSpec{
			Name:            "web",
			Image:           "nginx:1.7.9",
			Replicas:        ptr.To[int32](2),
			Workload:        model.WorkloadDeployment,
			Strategy:        model.StrategyRollingUpdate,
			RollingUpdate:   helper.NewRollingUpdate(intstr.FromString("25%")),
			MinReadySeconds: ptr.To[int32](3),
			Ports:           []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80)}},
			ResourceType:    model.ResourceTypeCustom,
			DefaultProbes:   model.DefaultProbesEnabled,
		},
		Status: model.ModelBoxStatus{
			ObservedGeneration: 3,
			Replicas:           2,
			UpdatedReplicas:    2,
			ReadyReplicas:      2,
			Address:            "web.default.svc:80",
			Conditions: []metav1.Condition{{
				Type: modelv1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 3,
				Reason: "Ready", Message: "2 of 2 replicas are available",
				LastTransitionTime: metav1.Unix(1, 0),
			}, {
				Type: modelv1.ConditionProgressing, Status: metav1.ConditionFalse, ObservedGeneration: 3,
				Reason: "RolloutComplete", Message: "2 of 2 replicas are available",
				LastTransitionTime: metav1.Unix(1, 0),
			}, {
				Type: modelv1.ConditionApplied, Status: metav1.ConditionTrue, ObservedGeneration: 3,
				Reason: "Applied", Message: "all children are up to date",
				LastTransitionTime: metav1.Unix(1, 0),
			}},
		},
	}
	for _, change := range changes {
		change(box)
	}
	return box
}

// statefulSet and daemonSet make a box one of another workload.
func statefulSet(box *model.ModelBox) {
	box.Spec.Workload, box.Spec.RollingUpdate = model.WorkloadStatefulSet, nil
}

func daemonSet(box *model.ModelBox) {
	box.Spec.Workload, box.Spec.RollingUpdate, box.Spec.Replicas = model.WorkloadDaemonSet, nil, nil
	box.Status.DesiredReplicas = ptr.To(box.Status.Replicas)
}
