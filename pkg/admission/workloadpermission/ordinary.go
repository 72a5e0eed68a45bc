// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

// Every user who may create boxes may set the fields that are listed here. docs/security.md lists them for users. All other fields
// need a permission, including fields that a later version of Kubernetes adds.

// rule says what of a field is ordinary. The zero rule is that for a field of which nothing is.
type rule struct {
	// any says that every value is.
	any bool
	// values are those that are.
	values []any
	// fields are the fields of an object, or of each object in a list, that have ordinary values.
	fields map[string]rule
	// isMap says that the keys of the field are the user's, and each of them a matter of its own. With fields, those keys are
	// ordinary as far as these say.
	isMap bool
	// permissions are required for all other values of the field and of the fields below it. None means the permissions of the
	// field that contains it.
	permissions []permission
}

type fields = map[string]rule

var anything = rule{any: true}

func only(values ...any) rule { return rule{values: values} }

func object(fields fields) rule { return rule{fields: fields} }

func (r rule) needs(permissions []permission) rule {
	r.permissions = permissions
	return r
}

// keyByKey is for labels and annotations. They are read by others: a label makes pods endpoints of any Service and peers of a
// NetworkPolicy, annotations set up networks, sidecars, load balancers and DNS names.
var keyByKey = rule{isMap: true}

// podAnnotations are keyByKey, except for the annotations of a restart, which replaces pods by equal pods.
var podAnnotations = rule{isMap: true, fields: fields{modelv1.RestartedAtAnnotation: anything, modelv1.ReferencesAnnotation: anything}}

var ordinarySpec = object(fields{
	"name":                    anything,
	"image":                   anything,
	"command":                 anything,
	"args":                    anything,
	"replicas":                anything,
	"workload":                only("Deployment", "StatefulSet", "Job", "CronJob"),
	"job":                     anything,
	"cronJob":                 anything,
	"strategy":                anything,
	"rollingUpdate":           anything,
	"minReadySeconds":         anything,
	"progressDeadlineSeconds": anything,
	"podManagementPolicy":     anything,
	"revisionHistoryLimit":    anything,
	"restartOn":               anything,
	"resize":                  anything,
	"rollout":                 anything,
	"before":                  job.needs(toRunJobs),
	"after":                   job.needs(toRunJobs),
	"paused":                  anything,
	"resourceType":            anything,
	"resources":               resources,
	"envs":                    env,
	"envFrom":                 envFrom,
	"containers":              containers,
	"initContainers":          containers,
	"readinessProbe":          probe,
	"livenessProbe":           probe,
	"startupProbe":            probe,
	"defaultProbes":           anything,
	"disabledDefaultProbes":   anything,
	"volumes":                 volumes,
	"volumeMounts":            volumeMounts,
	"configs":                 configs,
	"storage":                 storage.needs(toClaim),
	"ingress":                 rule{}.needs(toLeadIn),
	"route":                   rule{}.needs(toRoute),
	"grpcRoute":               rule{}.needs(toRouteGRPC),
	"autoscaling":             rule{}.needs(toAutoscale),
	"disruptionBudget":        rule{}.needs(toLimitDisruption),
	"networkPolicy":           rule{}.needs(toLimitTraffic),
	"serviceAccountName":      serviceAccountName,
	"ports":                   ports.needs(toExpose),
	"serviceType":             only("ClusterIP", "Headless").needs(toExpose),
	"service":                 service.needs(toExpose),
	"labels":                  keyByKey.needs(toDoBoth),
	"annotations":             keyByKey.needs(toDoBoth),
	"podTemplate": object(fields{
		"metadata": object(fields{"labels": keyByKey, "annotations": podAnnotations}),
		"spec":     podSpec,
	}),
}).needs(toRun)

// job is a command in a pod of the box.
var job = object(fields{
	"image":                 anything,
	"command":               anything,
	"args":                  anything,
	"envs":                  env,
	"resources":             resources,
	"backoffLimit":          anything,
	"activeDeadlineSeconds": anything,
})

var serviceAccountName = only("default")

// configs are ConfigMaps, which other users may read.
var configs = object(fields{
	"name":      anything,
	"mountPath": anything,
	"data":      rule{}.needs(toConfigure),
	"container": anything,
	"rollout":   anything,
})

var podSpec = object(fields{
	"containers":                    containers,
	"initContainers":                containers,
	"volumes":                       volumes,
	"serviceAccountName":            serviceAccountName,
	"serviceAccount":                serviceAccountName,
	"restartPolicy":                 anything,
	"terminationGracePeriodSeconds": anything,
	"dnsPolicy":                     anything,
	"dnsConfig":                     anything,
	"hostAliases":                   anything,
	"hostname":                      anything,
	"subdomain":                     anything,
	"setHostnameAsFQDN":             anything,
	"enableServiceLinks":            anything,
	"shareProcessNamespace":         anything,
	"os":                            anything,
	"nodeSelector":                  anything,
	"topologySpreadConstraints":     anything,
	"affinity": object(fields{
		"nodeAffinity":    anything,
		"podAffinity":     podAffinity,
		"podAntiAffinity": podAffinity,
	}),
	"resources": resources,
	"securityContext": object(fields{
		"runAsUser":                anything,
		"runAsGroup":               anything,
		"runAsNonRoot":             anything,
		"supplementalGroups":       anything,
		"supplementalGroupsPolicy": anything,
		"fsGroup":                  anything,
		"fsGroupChangePolicy":      anything,
		"seccompProfile":           runtimeProfile,
		"appArmorProfile":          runtimeProfile,
	}),
})

// podAffinity is about pods of the same namespace: with others a pod could keep theirs from being scheduled.
var podAffinity = object(fields{
	"requiredDuringSchedulingIgnoredDuringExecution": podAffinityTerm,
	"preferredDuringSchedulingIgnoredDuringExecution": object(fields{
		"weight":          anything,
		"podAffinityTerm": podAffinityTerm,
	}),
})

var podAffinityTerm = object(fields{
	"labelSelector":     anything,
	"topologyKey":       anything,
	"matchLabelKeys":    anything,
	"mismatchLabelKeys": anything,
})

var containers = object(fields{
	"name":       anything,
	"image":      anything,
	"command":    anything,
	"args":       anything,
	"workingDir": anything,
	"ports": object(fields{
		"name":          anything,
		"containerPort": anything,
		"protocol":      anything,
	}),
	"env":                      env,
	"envFrom":                  envFrom,
	"resources":                resources,
	"resizePolicy":             anything,
	"restartPolicy":            anything,
	"restartPolicyRules":       anything,
	"volumeMounts":             volumeMounts,
	"readinessProbe":           probe,
	"livenessProbe":            probe,
	"startupProbe":             probe,
	"lifecycle":                object(fields{"postStart": handler, "preStop": handler, "stopSignal": anything}),
	"terminationMessagePath":   anything,
	"terminationMessagePolicy": anything,
	"imagePullPolicy":          anything,
	"stdin":                    anything,
	"stdinOnce":                anything,
	"tty":                      anything,
	"securityContext": object(fields{
		"capabilities":           object(fields{"drop": anything, "add": only("NET_BIND_SERVICE")}),
		"runAsUser":              anything,
		"runAsGroup":             anything,
		"runAsNonRoot":           anything,
		"readOnlyRootFilesystem": anything,
		"procMount":              only("Default"),
		"seccompProfile":         runtimeProfile,
		"appArmorProfile":        runtimeProfile,
	}),
})

var runtimeProfile = object(fields{"type": only("RuntimeDefault")})

var resources = object(fields{"requests": anything, "limits": anything})

var env = object(fields{
	"name":  anything,
	"value": anything,
	"valueFrom": object(fields{
		"fieldRef":         anything,
		"resourceFieldRef": anything,
		"configMapKeyRef":  anything,
		"fileKeyRef":       anything,
	}),
})

var envFrom = object(fields{"prefix": anything, "configMapRef": anything})

var volumes = object(fields{
	"name":        anything,
	"emptyDir":    anything,
	"configMap":   anything,
	"downwardAPI": anything,
	"image":       anything,
	"projected": object(fields{
		"defaultMode": anything,
		"sources":     object(fields{"configMap": anything, "downwardAPI": anything}),
	}),
})

// storage asks the cluster for volumes, and lets the pods have claims of its names that are there already.
var storage = rule{}

var volumeMounts = object(fields{
	"name":              anything,
	"mountPath":         anything,
	"subPath":           anything,
	"subPathExpr":       anything,
	"readOnly":          anything,
	"recursiveReadOnly": anything,
	"mountPropagation":  only("None"),
})

// httpGet and tcpSocket are requests of the kubelet, from the network of the node: to the pod, and to no other host.
var (
	httpGet   = object(fields{"path": anything, "port": anything, "scheme": anything, "httpHeaders": anything})
	tcpSocket = object(fields{"port": anything})
)

var handler = object(fields{
	"exec":      anything,
	"sleep":     anything,
	"httpGet":   httpGet,
	"tcpSocket": tcpSocket,
})

var probe = object(fields{
	"exec":                          anything,
	"grpc":                          anything,
	"httpGet":                       httpGet,
	"tcpSocket":                     tcpSocket,
	"initialDelaySeconds":           anything,
	"timeoutSeconds":                anything,
	"periodSeconds":                 anything,
	"successThreshold":              anything,
	"failureThreshold":              anything,
	"terminationGracePeriodSeconds": anything,
})

var ports = object(fields{
	"name":        anything,
	"port":        anything,
	"targetPort":  anything,
	"protocol":    anything,
	"appProtocol": anything,
})

var service = object(fields{
	"sessionAffinity":          anything,
	"sessionAffinityConfig":    anything,
	"externalTrafficPolicy":    anything,
	"internalTrafficPolicy":    anything,
	"ipFamilies":               anything,
	"ipFamilyPolicy":           anything,
	"publishNotReadyAddresses": anything,
	"trafficDistribution":      anything,
	"labels":                   keyByKey,
	"annotations":              keyByKey,
})
