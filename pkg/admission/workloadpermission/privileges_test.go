// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPrivilegesOf(t *testing.T) {
	const overlay = "podTemplate: {spec: {"
	for _, row := range []struct {
		spec string
		want []string
	}{
		{"", nil},
		{`name: app, command: [a], args: [b], replicas: 3, strategy: Recreate, minReadySeconds: 1, paused: true, resourceType: small,
			envs: [{name: A, value: b}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: d}}}, {name: C, valueFrom: {fieldRef: {fieldPath: status.podIP}}}],
			envFrom: [{prefix: A, configMapRef: {name: c}}],
			ports: [{port: 80, targetPort: http, appProtocol: http}], serviceType: Headless,
			service: {publishNotReadyAddresses: true, sessionAffinity: ClientIP},
			volumes: [{name: a, emptyDir: {sizeLimit: 1Gi}}, {name: b, configMap: {name: c}}, {name: c, projected: {sources: [{configMap: {name: c}}]}}, {name: d}],
			volumeMounts: [{name: a, mountPath: /a, mountPropagation: None}],
			readinessProbe: {httpGet: {path: /, port: 80}}, livenessProbe: {exec: {command: [a]}}, serviceAccountName: default`, nil},
		{`containers: [{name: a, image: b, ports: [{containerPort: 80}], resources: {limits: {cpu: 1}}, lifecycle: {preStop: {sleep: {seconds: 1}}},
			securityContext: {privileged: false, allowPrivilegeEscalation: false, runAsUser: 0, runAsNonRoot: true, procMount: Default,
			capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}, seccompProfile: {type: RuntimeDefault}}}]`, nil},
		{overlay + `nodeSelector: {disk: ssd}, hostNetwork: false, hostUsers: false, automountServiceAccountToken: false, serviceAccountName: default,
			affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {}}]},
			nodeAffinity: {}}, securityContext: {runAsUser: 1, fsGroup: 2, seccompProfile: {type: RuntimeDefault}}}}`, nil},

		{"workload: StatefulSet, rollingUpdate: 2, replicas: 2", nil},
		{`configs: [{mountPath: /etc/web, data: {web.conf: a}}, {name: flags, mountPath: /etc/flags, data: {a: b}, rollout: Live, container: web}]`,
			[]string{"spec.configs[0].data", "spec.configs[1].data"}},

		// Whom the pods act as, and what they get to know.
		{"serviceAccountName: robot", []string{"spec.serviceAccountName"}},
		{overlay + "serviceAccountName: robot}}", []string{"spec.podTemplate.spec.serviceAccountName"}},
		{overlay + "serviceAccount: robot}}", []string{"spec.podTemplate.spec.serviceAccount"}},
		{overlay + "automountServiceAccountToken: true}}", []string{"spec.podTemplate.spec.automountServiceAccountToken"}},
		{"envs: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]", []string{"spec.envs[0].valueFrom.secretKeyRef"}},
		{"envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]", []string{"spec.envFrom[1].secretRef"}},
		{"imagePullSecrets: [{name: s}]", []string{"spec.imagePullSecrets"}},
		{overlay + "imagePullSecrets: [{name: s}]}}", []string{"spec.podTemplate.spec.imagePullSecrets"}},
		{"volumes: [{name: a, secret: {secretName: s}}]", []string{"spec.volumes[0].secret"}},
		{"volumes: [{name: a, projected: {sources: [{secret: {name: s}}, {serviceAccountToken: {path: t}}]}}]",
			[]string{"spec.volumes[0].projected.sources[0].secret", "spec.volumes[0].projected.sources[1].serviceAccountToken"}},
		{"volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]", []string{"spec.volumes[0].persistentVolumeClaim"}},
		{"volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {}}}}]", []string{"spec.volumes[0].ephemeral"}},
		{"storage: [{name: a, mountPath: /a, size: 1Gi}, {name: b, mountPath: /b, size: 1Gi}]", []string{"spec.storage"}},
		{"ports: [{port: 80}], ingress: {}, route: {parentRefs: [{name: public}]}", []string{"spec.ingress", "spec.route"}},
		{"ports: [{port: 80}], grpcRoute: {parentRefs: [{name: public}]}", []string{"spec.grpcRoute"}},
		{"volumes: [{name: a, csi: {driver: d}}]", []string{"spec.volumes[0].csi"}},
		{"containers: [{name: a, image: b, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]",
			[]string{"spec.containers[0].env[0].valueFrom.secretKeyRef"}},
		{"initContainers: [{name: a, image: b, envFrom: [{secretRef: {name: s}}]}]", []string{"spec.initContainers[0].envFrom[0].secretRef"}},
		{overlay + "containers: [{name: web, envFrom: [{secretRef: {name: s}}]}]}}", []string{"spec.podTemplate.spec.containers[0].envFrom[0].secretRef"}},
		{overlay + "volumes: [{name: a, secret: {secretName: s}}]}}", []string{"spec.podTemplate.spec.volumes[0].secret"}},
		{overlay + "resourceClaims: [{name: a, resourceClaimName: b}]}}", []string{"spec.podTemplate.spec.resourceClaims"}},

		// What they may do to the node.
		{"volumes: [{name: a, hostPath: {path: /}}]", []string{"spec.volumes[0].hostPath"}},
		{overlay + "hostNetwork: true, hostPID: true, hostIPC: true}}",
			[]string{"spec.podTemplate.spec.hostIPC", "spec.podTemplate.spec.hostNetwork", "spec.podTemplate.spec.hostPID"}},
		{"containers: [{name: a, image: b, ports: [{containerPort: 80, hostPort: 80, hostIP: 10.0.0.1}]}]",
			[]string{"spec.containers[0].ports[0].hostIP", "spec.containers[0].ports[0].hostPort"}},
		{"containers: [{name: a, image: b, securityContext: {privileged: true, allowPrivilegeEscalation: true, procMount: Unmasked, seLinuxOptions: {type: t}, seccompProfile: {type: Unconfined}}}]",
			[]string{"spec.containers[0].securityContext.allowPrivilegeEscalation", "spec.containers[0].securityContext.privileged",
				"spec.containers[0].securityContext.procMount", "spec.containers[0].securityContext.seLinuxOptions", "spec.containers[0].securityContext.seccompProfile.type"}},
		{"initContainers: [{name: a, image: b, securityContext: {capabilities: {add: [NET_BIND_SERVICE, SYS_ADMIN]}}}]",
			[]string{"spec.initContainers[0].securityContext.capabilities.add[1]"}},
		{overlay + "securityContext: {sysctls: [{name: a, value: b}], appArmorProfile: {type: Unconfined}}}}",
			[]string{"spec.podTemplate.spec.securityContext.appArmorProfile.type", "spec.podTemplate.spec.securityContext.sysctls"}},
		{"containers: [{name: a, image: b, volumeMounts: [{name: v, mountPath: /v, mountPropagation: Bidirectional}], volumeDevices: [{name: v, devicePath: /d}]}]",
			[]string{"spec.containers[0].volumeDevices", "spec.containers[0].volumeMounts[0].mountPropagation"}},
		{"readinessProbe: {httpGet: {port: 80, host: 169.254.169.254}}, livenessProbe: {tcpSocket: {port: 80, host: 10.0.0.1}}",
			[]string{"spec.livenessProbe.tcpSocket.host", "spec.readinessProbe.httpGet.host"}},
		{"containers: [{name: a, image: b, lifecycle: {postStart: {httpGet: {port: 80, host: 169.254.169.254}}}}]",
			[]string{"spec.containers[0].lifecycle.postStart.httpGet.host"}},
		{overlay + "runtimeClassName: host}}", []string{"spec.podTemplate.spec.runtimeClassName"}},

		// Where they run, and whom they push aside.
		{"workload: DaemonSet", []string{"spec.workload"}},
		{overlay + "nodeName: a, schedulerName: mine, tolerations: [{operator: Exists}], priorityClassName: system-node-critical, priority: 1}}",
			[]string{"spec.podTemplate.spec.nodeName", "spec.podTemplate.spec.priority", "spec.podTemplate.spec.priorityClassName",
				"spec.podTemplate.spec.schedulerName", "spec.podTemplate.spec.tolerations"}},
		{overlay + "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaceSelector: {}}]}}}}",
			[]string{"spec.podTemplate.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector"}},

		// Whose traffic they get, and who reaches them.
		{"labels: {app: payments}, annotations: {a: b}", []string{"spec.annotations[a]", "spec.labels[app]"}},
		{"podTemplate: {metadata: {labels: {app: ''}, annotations: {a: b}}}",
			[]string{"spec.podTemplate.metadata.annotations[a]", "spec.podTemplate.metadata.labels[app]"}},
		{"podTemplate: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: '2026-01-02T03:04:05Z'}}}", nil},
		{"annotations: {kubectl.kubernetes.io/restartedAt: '2026-01-02T03:04:05Z'}", []string{"spec.annotations[kubectl.kubernetes.io/restartedAt]"}},
		{"ports: [{port: 80}, {port: 81, nodePort: 30010}]", []string{"spec.ports[1].nodePort"}},
		{"ports: [{port: 80}], serviceType: LoadBalancer, service: {loadBalancerClass: a, loadBalancerSourceRanges: [0.0.0.0/0], annotations: {dns: a}, labels: {a: b}, healthCheckNodePort: 30011}",
			[]string{"spec.service.annotations[dns]", "spec.service.healthCheckNodePort", "spec.service.labels[a]", "spec.service.loadBalancerClass",
				"spec.service.loadBalancerSourceRanges", "spec.serviceType"}},
		{"ports: [{port: 80}], serviceType: NodePort", []string{"spec.serviceType"}},
	} {
		t.Run(row.spec, func(t *testing.T) {
			privileges, err := privilegesOf(newBox(t, row.spec), field.NewPath("spec"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, privilege := range privileges {
				got = append(got, privilege.path.String())
				if len(privilege.permissions) == 0 {
					t.Errorf("%s needs no permission", privilege.path)
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A field that is renamed, or misspelt here, would no longer be an ordinary one.
func TestOrdinaryFieldsExist(t *testing.T) {
	expectFields(t, "spec", ordinarySpec, reflect.TypeFor[modelv1.ModelBoxSpec]())
}

func expectFields(t *testing.T, path string, r rule, of reflect.Type) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if r.isMap && of.Kind() != reflect.Map {
		t.Errorf("%s is a %s", path, of)
	}
	if r.fields == nil || r.isMap {
		return // the keys of a map are not fields of a type
	}
	types := jsonFields(of)
	for name, sub := range r.fields {
		field, ok := types[name]
		if !ok {
			t.Errorf("%s.%s: there is no such field", path, name)
			continue
		}
		expectFields(t, path+"."+name, sub, field)
	}
}

// jsonFields returns the types of the fields of a struct by their names in JSON.
func jsonFields(of reflect.Type) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			maps.Copy(types, jsonFields(field.Type))
			continue
		}
		types[name] = field.Type
	}
	return types
}
