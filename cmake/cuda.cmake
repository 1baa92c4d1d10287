# SPDX-License-Identifier: MIT
#
# libgarner_cuda.so: the gathers on NVIDIA GPUs. Needs a CUDA compiler to be built, for the kernels alone; the system's
# (CUDA_HOME, PATH, /usr/local/cuda) or that which `make cuda` installs from PyPI into build/cudaenv. It links nothing of
# NVIDIA's, and loads the driver when it is used.
find_program(GARNER_NVCC nvcc
             HINTS ENV CUDA_HOME ENV CUDA_PATH
             PATHS ${PROJECT_SOURCE_DIR}/build/cudaenv/cuda /usr/local/cuda PATH_SUFFIXES bin
             DOC "The CUDA compiler")
if(NOT GARNER_NVCC)
    message(STATUS "garner: no CUDA compiler found: libgarner_cuda.so is left out (make cuda installs one from PyPI)")
    return()
endif()
# A device runs code for a lower minor number of its capability: 8.0 is also for 8.6 and 8.9.
set(GARNER_CUDA_ARCHITECTURES "75;80;90" CACHE STRING "Compute capabilities that kernels are compiled for; PTX of the last is for later ones")

set(cuda_gencode "")
foreach(architecture IN LISTS GARNER_CUDA_ARCHITECTURES)
    list(APPEND cuda_gencode -gencode arch=compute_${architecture},code=sm_${architecture})
endforeach()
list(GET GARNER_CUDA_ARCHITECTURES -1 architecture)
list(APPEND cuda_gencode -gencode arch=compute_${architecture},code=compute_${architecture})

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.c ${PROJECT_SOURCE_DIR}/src/cuda/driver/*.c)
file(GLOB cuda_kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/kernels/*)
set(cuda_image ${PROJECT_BINARY_DIR}/garner_cuda_kernels.fatbin)
add_custom_command(
    OUTPUT ${cuda_image}
    COMMAND ${GARNER_NVCC} -std=c++17 -O3 -fatbin --threads 0 -I${PROJECT_SOURCE_DIR}/include ${cuda_gencode}
            -o ${cuda_image} ${PROJECT_SOURCE_DIR}/src/cuda/kernels/cuda_kernels.cu
    DEPENDS ${cuda_kernel_sources} src/index.h src/nest.h src/dtype.h src/packing.h src/base.h
    COMMENT "Compiling the kernels for GPUs of compute capability ${GARNER_CUDA_ARCHITECTURES}"
    VERBATIM)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cuda/driver/image.c PROPERTIES
    COMPILE_DEFINITIONS "GARNER_CUDA_IMAGE=\"${cuda_image}\"" OBJECT_DEPENDS ${cuda_image})

add_library(garner_cuda SHARED ${cuda_sources})
add_library(garner::cuda ALIAS garner_cuda)
target_include_directories(garner_cuda PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(garner_cuda PRIVATE $<BUILD_INTERFACE:garner_static> Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(garner_cuda PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                             C_VISIBILITY_PRESET hidden EXPORT_NAME cuda)
garner_exports(garner_cuda "garner_cuda_*")
garner_own_target(garner_cuda)
