// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corevalidation

import "regexp"

// side says whose rules refuse what the other ones do not.
type side string

const (
	onlyRestated   side = "refused by the restated rules only"
	onlyKubernetes side = "refused by Kubernetes only"
)

// difference is one that is wanted.
type difference struct {
	side side
	// inBoth is true for one of errors only: the object is refused by both.
	inBoth bool
	// field and message match all of the path of a field without the indexes of lists, and the start of what is said of it.
	field, message string
	// reason says why it is wanted.
	reason string

	fieldPattern, messagePattern *regexp.Regexp
}

func (d *difference) matches(s side, field, message string, bothRefuse bool) bool {
	return d.side == s && (bothRefuse || !d.inBoth) && d.fieldPattern.MatchString(field) && d.messagePattern.MatchString(message)
}

func init() {
	for i := range wanted {
		wanted[i].fieldPattern = regexp.MustCompile("^(" + wanted[i].field + ")$")
		wanted[i].messagePattern = regexp.MustCompile("^(" + wanted[i].message + ")")
	}
}

const (
	anyContainer = `template\.spec\.(containers|initContainers)\.`
	anyVolume    = `template\.spec\.volumes\.`
)

const (
	byOrder    = "Which of several sources is one too many is a matter of order, and only the other one is validated."
	byDefault  = "The value is a default: what it is taken from is refused."
	byGate     = "Clusters drop the field unless the feature is on. Those that have it refuse this."
	byName     = "No object can have this name, so that no pod would start."
	byApply    = "Server-side apply, by which children are written, takes each key of a list once."
	byAlloc    = "The allocation of addresses and ports refuses it, after the validation."
	documented = "The API documents it, and does not check it."
	sameObject = "It is said of another field of the same object."
)

var wanted = []difference{
	{side: onlyRestated, inBoth: true, field: anyVolume + `.*`, reason: byOrder},
	{side: onlyKubernetes, inBoth: true, field: anyVolume + `.*`, reason: byOrder},
	{side: onlyKubernetes, inBoth: true, field: anyContainer + `(volumeMounts|volumeDevices)\.name`, message: "Not found",
		reason: "A volume that is refused is none that is mounted."},
	{side: onlyKubernetes, inBoth: true, field: anyContainer + `resources\.requests(\[.*\])?`, reason: byDefault},
	{side: onlyKubernetes, inBoth: true, field: anyContainer + `ports\.hostPort`, reason: byDefault},
	{side: onlyKubernetes, inBoth: true, field: `spec\.ports\.targetPort`, message: "Invalid value: -?\\d+: must be between", reason: byDefault},
	{side: onlyKubernetes, inBoth: true, field: anyContainer + `resources\.limits\[.*\]`, message: "Invalid value: .*: must be less than or equal to pod limits",
		reason: "The resources of a pod are compared with the resources of its containers once they are valid themselves."},
	{side: onlyRestated, inBoth: true, field: anyContainer + `ports\.containerPort`, message: "Duplicate value", reason: sameObject},
	{side: onlyRestated, inBoth: true, field: `template\.spec\..*\.apiVersion`, message: "Unsupported value", reason: sameObject},
	{side: onlyKubernetes, inBoth: true, field: `template\.spec\..*\.fieldPath`, message: "Invalid value: .*: error converting fieldPath", reason: sameObject},
	{side: onlyRestated, inBoth: true, field: `template\.spec\.tolerations\.(key|value|tolerationSeconds)`, reason: sameObject},
	{side: onlyKubernetes, inBoth: true, field: `template\.spec\.tolerations\.(operator|effect)`, reason: sameObject},
	{side: onlyRestated, inBoth: true, field: `template\.spec\.serviceAccount`, message: "Invalid value", reason: sameObject},
	{side: onlyKubernetes, inBoth: true, field: `template\.spec\.serviceAccountName`, message: "Invalid value", reason: sameObject},
	{side: onlyRestated, inBoth: true, field: `.*\.appArmorProfile\.localhostProfile`, message: "Invalid value: .*: may only be given", reason: sameObject},

	{side: onlyRestated, inBoth: true, field: anyContainer + `restartPolicyRules\.(action|exitCodes)`, reason: sameObject},
	{side: onlyRestated, inBoth: true, field: `.*\.windowsOptions\.hostProcess`, message: "Forbidden", reason: sameObject},
	{side: onlyKubernetes, inBoth: true, field: `template\.spec\.hostNetwork`, message: "Invalid value", reason: sameObject},
	{side: onlyRestated, inBoth: true, field: `.*\.matchFields\.values`, message: "Required value", reason: sameObject},
	{side: onlyRestated, inBoth: true, field: `template\.metadata\.annotations\[.*\]`, message: "Invalid value: .*: must be the same as", reason: sameObject},
	{side: onlyKubernetes, inBoth: true, field: anyContainer + `lifecycle\.preStop\.sleep`, message: "Invalid value", reason: sameObject},

	{side: onlyRestated, field: `.*\.image`, message: "Invalid value: .*: must name an image", reason: "No kubelet could pull it."},
	{side: onlyRestated, field: `template\.spec\.terminationGracePeriodSeconds`, message: "Invalid value: -",
		reason: "A kubelet takes it for one second."},
	{side: onlyRestated, field: `template\.spec\.serviceAccount`, message: "Invalid value: .*: must be left out or",
		reason: "Kubernetes would overrule it, and each comparison with the live Deployment would find another one."},
	{side: onlyRestated, field: `template\.spec\.overhead`, message: "Forbidden", reason: "An admission plugin refuses such pods."},
	{side: onlyRestated, field: anyContainer + `volumeMounts\.mountPath`, message: "Invalid value: .*: must not contain ':'", reason: documented},
	{side: onlyRestated, field: anyContainer + `ports\.name`, message: "Duplicate value", reason: documented},
	{side: onlyRestated, field: anyVolume + `projected\.sources`, message: "Required value", reason: documented},
	{side: onlyRestated, field: anyContainer + `(.*Probe|lifecycle)\..*\.port`, message: "Invalid value: .*: must be a number",
		reason: "The container has no port of this name, so that the probe would fail forever."},
	{side: onlyRestated, field: anyContainer + `lifecycle\.stopSignal`, reason: byGate},
	{side: onlyRestated, field: anyContainer + `.*\.(httpGet\.(host|protocol)|grpc\.mode)`, reason: byGate},
	{side: onlyRestated, field: anyContainer + `volumeMounts\.bindMountOptions`, reason: byGate},
	{side: onlyRestated, field: anyVolume + `emptyDir\.mode`, reason: byGate},
	{side: onlyRestated, field: anyVolume + `.*\.(defaultUser|(items|serviceAccountToken|clusterTrustBundle|podCertificate)\.user)`, reason: byGate},
	{side: onlyRestated, field: `template\.spec\.(evictionResponders|schedulingGroup)(\..*)?`, reason: byGate},
	{side: onlyRestated, field: `template\.spec\.imagePullSecrets\.name`, reason: byName},
	{side: onlyRestated, field: anyVolume + `((projected\.sources\.)?(configMap|secret)|persistentVolumeClaim)\.(name|secretName|claimName)`, reason: byName},
	{side: onlyRestated, field: anyContainer + `env\.name`, message: "Duplicate value", reason: byApply},
	{side: onlyRestated, field: anyContainer + `ports`, message: "Duplicate value", reason: byApply},
	{side: onlyRestated, field: anyContainer + `restartPolicyRules\.exitCodes\.values`, message: "Duplicate value", reason: byApply},
	{side: onlyRestated, field: `template\.metadata\.finalizers`, message: "Duplicate value", reason: byApply},
	{side: onlyRestated, field: `template\.spec\.hostAliases\.ip`, message: "Duplicate value", reason: byApply},
	{side: onlyRestated, field: `spec\.ports\.nodePort`, message: "Invalid value", reason: byAlloc},
	{side: onlyRestated, field: `spec\.ipFamilyPolicy`, message: "Invalid value", reason: byAlloc},
	{side: onlyRestated, field: `spec\.sessionAffinityConfig(\..*)?`, message: "(Forbidden|Required)",
		reason: "Kubernetes would take it out or fill it in, and each comparison with the live Service would find another one."},
}
