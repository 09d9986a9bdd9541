// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fake of NVML: contains the functions that DeviceMonitor calls, and one device with the PCI address 0000:3B:00.0.
#include <cstring>

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** handle) {
  static int device = 0;
  *handle = &device;
  return std::strcmp(bus, "0000:3B:00.0") == 0 ? 0 : 6;  // not found
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) { return *milliwatts = 345'600, 0; }
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) { return *milliwatts = 700'000, 0; }
int nvmlDeviceGetUtilizationRates(void*, unsigned* rates) { return rates[0] = 87, rates[1] = 40, 0; }
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  return memory[0] = 80ULL << 30, memory[1] = 77ULL << 30, memory[2] = 3ULL << 30, 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) { return *millijoules = 5'000'500, 0; }
int nvmlDeviceGetClockInfo(void*, int kind, unsigned* megahertz) {
  return *megahertz = 1755, kind == 1 ? 0 : 2;  // 1: multiprocessors; invalid argument
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) { return *celsius = 71, sensor == 0 ? 0 : 2; }
/// Name of the function in drivers before 535. Reports the power cap and heat.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) { return *reasons = 0x44, 0; }
/// Reports two processes, if the caller's array has room for them.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  const bool fits = *count >= 2;
  *count = 2;
  return fits ? 0 : 7;  // too little room
}
}
